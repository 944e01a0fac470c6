// SPDX-License-Identifier: MIT
// Runs the search of the site, as in the browser of a reader, and prints the pages found for each query, best first.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

// node site_search.js FOLDER_OF_THE_SITE WORDS...
const [site, ...queries] = process.argv.slice(2);
const workers = path.join(site, "assets/javascripts/workers");
const [name] = fs.readdirSync(workers).filter((each) => /^search\..*\.js$/.test(each));
const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json")));
const answers = [];
let listener;
const scope = {
  console: console,
  addEventListener: (_, added) => { listener = added; },
  postMessage: (message) => answers.push(message),
};
scope.self = scope;
vm.runInNewContext(fs.readFileSync(path.join(workers, name), "utf8"), scope);

(async () => {
  await listener({ data: { type: 0, data: { ...index, options: { suggest: false } } } });
  for (const query of queries) {
    await listener({ data: { type: 2, data: query } });
  }
  const found = answers.slice(1).map(({ data }) => data.items.map(([page]) => page.location));
  console.log(JSON.stringify(Object.fromEntries(queries.map((query, i) => [query, found[i]]))));
})();
