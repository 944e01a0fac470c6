// SPDX-License-Identifier: MIT
// Fetches the document and hands it to what shows it.
"use strict";

(async () => {
  const element = document.getElementById("docs");
  const { ui, document: address, root, servers } = element.dataset;
  const nonce = document.currentScript?.nonce || document.querySelector("script[nonce]")?.nonce;

  const fail = (text) => {
    const paragraph = document.createElement("p");
    paragraph.setAttribute("role", "alert");
    paragraph.textContent = text;
    document.body.prepend(paragraph);
  };

  let described;
  try {
    const response = await fetch(address, { credentials: "same-origin" });
    if (!response.ok) {
      fail(`The document at ${response.url} can't be read: status ${response.status}.`);
      return;
    }
    described = await response.json();
  } catch (error) {
    fail(`The document at ${address} can't be read: ${error}`);
    return;
  }
  if (servers === undefined) {
    // The page is below whatever prefix a proxy has taken away, so it knows better than the server.
    const base = new URL(root, location.href).pathname.replace(/\/$/, "");
    if (base !== "") {
      described.servers = [{ url: location.origin + base }];
    }
  }

  if (ui === "swagger") {
    window.ui = SwaggerUIBundle({
      spec: described,
      domNode: element,
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: true,
      tryItOutEnabled: true,
      // The validator of swagger.io would be asked over the network.
      validatorUrl: null,
    });
  } else if (ui === "redoc") {
    Redoc.init(described, { nonce, hideDownloadButton: false }, element);
  } else {
    const shown = document.createElement("rapi-doc");
    const attributes = {
      "load-fonts": "false",
      "render-style": "read",
      "schema-style": "table",
      "show-header": "false",
      "allow-spec-url-load": "false",
      "allow-spec-file-load": "false",
    };
    for (const [name, value] of Object.entries(attributes)) {
      shown.setAttribute(name, value);
    }
    element.replaceWith(shown);
    await customElements.whenDefined("rapi-doc");
    await shown.loadSpec(described);
  }
})();
