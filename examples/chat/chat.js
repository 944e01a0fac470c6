// SPDX-License-Identifier: MIT
const LONGEST_DELAY_MS = 10_000;
const TYPING_MS = 3_000;
const MOST_SHOWN = 500;

const $ = (id) => document.getElementById(id);
const people = new Set();
const typing = new Map(); // name -> timer
let name = "";
let room = "";
let socket = null;
let delay = 0;
let retry = 0;
let toldTyping = 0;

function show(kind, fill) {
  const log = $("log");
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  const item = document.createElement("li");
  item.className = kind;
  fill(item);
  log.append(item);
  while (log.children.length > MOST_SHOWN) log.firstChild.remove();
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}

const notice = (text, kind = "notice") => show(kind, (item) => (item.textContent = text));

function message(from, text) {
  show(from === name ? "message mine" : "message", (item) => {
    const who = document.createElement("b");
    const when = document.createElement("time");
    const what = document.createElement("p");
    who.textContent = from === name ? "You" : from;
    when.textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    what.textContent = text;
    item.append(who, when, what);
  });
}

function showPeople() {
  $("people").replaceChildren(
    ...[...people].sort((a, b) => a.localeCompare(b)).map((each) => {
      const item = document.createElement("li");
      item.textContent = each === name ? `${each} (you)` : each;
      return item;
    }),
  );
}

function showTyping() {
  const names = [...typing.keys()];
  const who = names.length > 3 ? "Several people" : names.join(", ");
  $("typing").textContent = names.length ? `${who} ${names.length > 1 ? "are" : "is"} typing…` : "";
}

function stopTyping(from) {
  clearTimeout(typing.get(from));
  typing.delete(from);
  showTyping();
}

function state(text, isAway = false) {
  $("state").textContent = text;
  $("state").className = isAway ? "away" : "";
}

const send = (said) => {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(said));
  return true;
};

const receive = {
  message({ name: from, text }) {
    stopTyping(from);
    message(from, text);
  },
  joined({ name: from }) {
    if (from !== name) {
      notice(`${from} has joined`);
      send({ type: "here" }); // so that they know who is here
    }
    people.add(from);
    showPeople();
  },
  here({ name: from }) {
    people.add(from);
    showPeople();
  },
  left({ name: from }) {
    stopTyping(from);
    if (from === name) return send({ type: "here" }); // another tab of ours, or another with our name
    people.delete(from);
    showPeople();
    notice(`${from} has left`);
  },
  typing({ name: from }) {
    if (from === name) return;
    clearTimeout(typing.get(from));
    typing.set(from, setTimeout(() => stopTyping(from), TYPING_MS));
    showTyping();
  },
  failed({ text }) {
    if (text) notice(`Not sent, please try again: ${text}`, "notice warning");
  },
  gap() {
    notice("Some messages may be missing here", "notice warning");
  },
};

function connect() {
  clearTimeout(retry);
  socket?.close();
  state("Connecting…");
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const opened = new WebSocket(
    `${scheme}://${location.host}/rooms/${room}/ws?name=${encodeURIComponent(name)}`,
  );
  socket = opened;
  opened.onopen = () => {
    delay = 0;
    people.clear();
    state("Connected");
  };
  opened.onmessage = ({ data }) => {
    if (opened !== socket) return;
    const event = JSON.parse(data);
    receive[event.type]?.(event);
  };
  opened.onclose = () => {
    if (opened !== socket) return;
    delay = Math.min(LONGEST_DELAY_MS, delay ? delay * 2 : 250);
    state("Connection lost. Connecting again…", true);
    retry = setTimeout(connect, delay * (0.5 + Math.random() / 2));
  };
}

function enter() {
  const rooms = [...$("rooms").children];
  const link = rooms.find((each) => each.hash === location.hash) ?? rooms[0];
  room = link.hash.slice(1);
  for (const each of rooms) each.removeAttribute("aria-current");
  link.setAttribute("aria-current", "page");
  $("room").textContent = room;
  document.title = `#${room} · Chat`;
  $("log").replaceChildren();
  people.clear();
  showPeople();
  for (const each of [...typing.keys()]) stopTyping(each);
  if (name) connect();
}

$("enter").onsubmit = (event) => {
  event.preventDefault();
  name = $("name").value.trim();
  if (!name) return;
  sessionStorage.setItem("name", name);
  $("welcome").close();
  connect();
  $("text").focus();
};

$("compose").onsubmit = (event) => {
  event.preventDefault();
  const text = $("text").value.trim();
  if (text && send({ type: "message", text })) $("text").value = "";
  toldTyping = 0;
};

$("text").oninput = () => {
  if (Date.now() - toldTyping < TYPING_MS / 2) return;
  toldTyping = Date.now();
  send({ type: "typing" });
};

$("welcome").oncancel = (event) => event.preventDefault();
window.onhashchange = enter;
name = sessionStorage.getItem("name") ?? "";
enter();
if (!name) $("welcome").showModal();
