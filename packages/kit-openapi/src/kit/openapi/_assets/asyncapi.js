// SPDX-License-Identifier: MIT
// Opens a WebSocket for each console of the page, sends messages, and shows what comes back.
"use strict";

const base = () => {
  const [server] = document.body.dataset.servers.split(" ");
  if (server) {
    return server.replace(/\/$/, "");
  }
  const root = new URL(document.body.dataset.root, location.href);
  return root.href.replace(/^http/, "ws").replace(/\/$/, "");
};

for (const form of document.querySelectorAll("form.console")) {
  const { connect, disconnect, message, example } = form.elements;
  const send = form.querySelector("button[value=send]");
  const status = form.querySelector("output");
  const log = form.querySelector(".log");
  let socket = null;

  const tell = (text) => {
    status.textContent = text;
  };
  const show = (text) => {
    const item = document.createElement("li");
    item.textContent = text;
    log.append(item);
    log.scrollTop = log.scrollHeight;
  };
  const enable = (isOpen) => {
    connect.disabled = socket !== null;
    disconnect.disabled = socket === null;
    if (send) {
      send.disabled = !isOpen;
    }
  };
  const address = () => {
    const values = new Map();
    const query = new URLSearchParams();
    for (const input of form.querySelectorAll("input[data-place]")) {
      if (input.dataset.place === "path") {
        values.set(input.dataset.name, encodeURIComponent(input.value));
      } else if (input.value !== "") {
        query.append(input.dataset.name, input.value);
      }
    }
    const path = form.dataset.address.replace(/\{([^{}]*)\}/g, (all, name) => values.get(name));
    const asked = query.toString();
    return base() + path + (asked ? `?${asked}` : "");
  };

  connect.addEventListener("click", () => {
    if (!form.reportValidity()) {
      return;
    }
    let opened;
    try {
      opened = new WebSocket(address());
    } catch (error) {
      // The URL is invalid, or it is one of ws: and the page one of https:.
      tell(`can't connect: ${error.message}`);
      return;
    }
    opened.binaryType = "arraybuffer";
    socket = opened;
    tell("connecting");
    enable(false);
    opened.addEventListener("open", () => {
      tell("connected");
      enable(true);
    });
    opened.addEventListener("message", ({ data }) => {
      show(`← ${typeof data === "string" ? data : `${data.byteLength} bytes`}`);
    });
    opened.addEventListener("close", ({ code, reason }) => {
      tell(`closed with ${code}${reason ? `: ${reason}` : ""}`);
      socket = null;
      enable(false);
    });
  });
  disconnect.addEventListener("click", () => socket.close(1000));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (socket !== null && socket.readyState === WebSocket.OPEN) {
      socket.send(message.value);
      show(`→ ${message.value}`);
    }
  });
  if (example) {
    example.addEventListener("change", () => {
      message.value = example.value;
    });
  }
}
