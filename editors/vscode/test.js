// Runs the client without an editor: `node test.js`.  What it asks of the editor is recorded.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const Module = require("node:module");

const seen = { terminals: [], documents: [], errors: [], information: [], started: 0, stopped: 0 };
const settings = { command: ["/opt/herbrand", "lsp"], groundSeconds: 3 };
const commands = {};

const vscode = {
  workspace: {
    getConfiguration: () => ({ get: (name, fallback) => settings[name] ?? fallback }),
    textDocuments: [{ uri: { toString: () => "file:///games/a b.kif" }, isDirty: true, save: async () => seen.saved++ }],
    openTextDocument: async (options) => options,
  },
  window: {
    createTerminal: (options) => ({ show: () => seen.terminals.push(options) }),
    showTextDocument: async (document) => seen.documents.push(document),
    showErrorMessage: async (message) => void seen.errors.push(message),
    showInformationMessage: async (message) => void seen.information.push(message),
    withProgress: async (_, work) => work(),
  },
  commands: {
    registerCommand: (name, handler) => {
      commands[name] = handler;
      return { dispose() {} };
    },
    executeCommand: async () => {},
  },
  Uri: {
    parse: (text) => {
      const url = new URL(text);
      const path = decodeURIComponent(url.pathname);
      return { scheme: url.protocol.slice(0, -1), path, fsPath: path, toString: () => decodeURIComponent(text) };
    },
  },
  ViewColumn: { Beside: 2 },
  ProgressLocation: { Notification: 15 },
};
seen.saved = 0;

class LanguageClient {
  constructor(id, name, server, client) {
    Object.assign(this, { id, name, server, client });
    LanguageClient.last = this;
  }
  async start() {
    if (LanguageClient.fails) throw new Error("no such program");
    seen.started++;
  }
  needsStop() {
    return true;
  }
  async stop() {
    seen.stopped++;
  }
}

const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === "vscode") return vscode;
  if (name === "vscode-languageclient/node") return { LanguageClient, TransportKind: { stdio: 0 } };
  return load(name, ...rest);
};

const extension = require("./extension.js");

async function main() {
  const context = { subscriptions: [] };
  await extension.activate(context);
  const { server, client } = LanguageClient.last;
  assert.deepStrictEqual([server.command, server.args], ["/opt/herbrand", ["lsp"]]);
  assert.deepStrictEqual(client.initializationOptions, { showsResults: true, groundSeconds: 3 });
  assert.deepStrictEqual(new Set(client.documentSelector.map((one) => one.language)), new Set(["gdl", "gdl-infix", "ggdl"]));

  const run = client.middleware.executeCommand;
  await run("herbrand.play", ["file:///games/a%20b.kif"], () => assert.fail("the server is not asked"));
  assert.strictEqual(seen.saved, 1);
  assert.deepStrictEqual(
    [seen.terminals[0].shellPath, seen.terminals[0].shellArgs],
    ["/opt/herbrand", ["play", "/games/a b.kif"]],
  );
  await run("herbrand.play", ["untitled:One"], () => assert.fail("the server is not asked"));
  assert.match(seen.information[0], /save the rules/);

  await run("herbrand.explain", ["unsafe-variable"], async () => "Why this is bad");
  assert.deepStrictEqual(seen.documents[0], { content: "Why this is bad", language: "markdown" });
  await run("herbrand.analyse", ["file:///a.kif"], async () => "playable yes");
  assert.strictEqual(seen.documents[1].language, "plaintext");

  await commands["herbrand.restart"]();
  assert.deepStrictEqual([seen.started, seen.stopped], [2, 1]);
  LanguageClient.fails = true;
  await commands["herbrand.restart"]();
  assert.match(seen.errors[0], /pip install 'herbrand\[lsp\]'/);
  await extension.deactivate();
}

/** The bundle, where there is one, needs nothing but the editor. */
function loadBundle() {
  const file = path.join(__dirname, "dist", "extension.js");
  if (!fs.existsSync(file)) return;
  const anything = () =>
    new Proxy(class {}, {
      get: (own, name) => (name in own || typeof name === "symbol" ? own[name] : anything()),
    });
  const builtin = new Set(Module.builtinModules);
  Module._load = (name, ...rest) => {
    if (name === "vscode") return anything();
    assert(name === file || builtin.has(name.replace("node:", "")), `the bundle asks for ${name}`);
    return load(name, ...rest);
  };
  assert.deepEqual(Object.keys(require(file)).sort(), ["activate", "deactivate"]);
}

main().then(loadBundle).then(
  () => console.log("ok"),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
