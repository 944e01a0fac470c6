// SPDX-License-Identifier: MIT
// Runs before Scalar, which would violate a content security policy without 'unsafe-inline' and
// 'unsafe-eval' for the sake of its styles and validators.
"use strict";

{
  const { nonce } = document.currentScript;

  // Scalar's validators compile themselves unless told not to.
  globalThis.__zod_globalConfig = { jitless: true };

  // Scalar reads the nonce of its main styles here. It is needed only while the scripts load.
  const meta = document.createElement("meta");
  meta.setAttribute("property", "csp-nonce");
  meta.content = nonce;
  document.head.append(meta);
  document.addEventListener("DOMContentLoaded", () => meta.remove());

  // Toasts and editors add style elements without a nonce.
  const { createElement } = document;
  document.createElement = (...args) => {
    const element = createElement.apply(document, args);
    if (element instanceof HTMLStyleElement) {
      element.nonce = nonce;
    }
    return element;
  };

  // A policy refuses style attributes, but not the same styles set through the CSSOM.
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style" && this.style) {
      this.style.cssText = value;
    } else {
      setAttribute.call(this, name, value);
    }
  };
  const innerHTML = Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML");
  Object.defineProperty(Element.prototype, "innerHTML", {
    ...innerHTML,
    set(html) {
      const held = String(html).replace(/(<[a-z][^<>]*) style=/g, "$1 data-held-style=");
      innerHTML.set.call(this, held === String(html) ? html : held);
      for (const element of this.querySelectorAll("[data-held-style]")) {
        element.style.cssText = element.dataset.heldStyle;
        delete element.dataset.heldStyle;
      }
    },
  });
}
