// SPDX-License-Identifier: MIT
// Fetches the document and hands it to what shows it.
"use strict";

(async () => {
  const element = document.getElementById("docs");
  const { ui, document: address, root, servers } = element.dataset;

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
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
    dark.addEventListener("change", follow);
    follow();
    window.ui = SwaggerUIBundle({
      spec: described,
      domNode: element,
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: true,
      tryItOutEnabled: true,
      // Swagger UI takes lines of JSON for a file, and shows "[object Blob]".
      responseInterceptor: async (response) => {
        if (response.data instanceof Blob && /\bjsonl\b/.test(response.headers["content-type"])) {
          response.text = response.data = await response.data.text();
        }
        return response;
      },
      // The validator of swagger.io would be asked over the network.
      validatorUrl: null,
    });
  } else {
    // It would take the text for browsers without JavaScript for its own.
    element.replaceChildren();
    window.ui = Scalar.createApiReference(element, {
      content: described,
      persistAuth: true,
      // All that would call other hosts: fonts, a proxy, a chat, a registry, counting of visits.
      withDefaultFonts: false,
      proxyUrl: "",
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: "never",
      telemetry: false,
      externalUrls: { dashboardUrl: "", registryUrl: "", proxyUrl: "", apiBaseUrl: "" },
    });
  }
})();
