// The client of `herbrand lsp`: starts the server, and does what only an editor can do.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

const LANGUAGES = ["gdl", "gdl-infix", "ggdl"];

let client;

/** Start the server; what stands in the way is said once, with the remedy. */
async function start() {
  const settings = vscode.workspace.getConfiguration("herbrand");
  const [command, ...args] = settings.get("command", ["herbrand", "lsp"]);
  client = new LanguageClient(
    "herbrand",
    "herbrand",
    { command, args, transport: TransportKind.stdio },
    {
      documentSelector: LANGUAGES.flatMap((language) => [
        { scheme: "file", language },
        { scheme: "untitled", language },
      ]),
      initializationOptions: { showsResults: true, groundSeconds: settings.get("groundSeconds", 10) },
      middleware: { executeCommand },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `herbrand: cannot start \`${[command, ...args].join(" ")}\`. ` +
        "Install it with `pip install 'herbrand[lsp]'`, or say in the settings where it is.",
      "Open settings",
    );
    if (choice) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "herbrand.command");
    }
  }
}

/** Commands of the server: a game is played in a terminal, what others answer is shown as a text. */
async function executeCommand(command, args, next) {
  if (command === "herbrand.play") {
    return play(vscode.Uri.parse(args[0]));
  }
  const show = async () => {
    const answer = await next(command, args);
    if (typeof answer === "string" && answer) {
      const language = command === "herbrand.explain" ? "markdown" : "plaintext";
      const document = await vscode.workspace.openTextDocument({ content: answer, language });
      await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
    }
    return answer;
  };
  const title = { "herbrand.analyse": "herbrand analyses the game", "herbrand.repair": "herbrand repairs the game" };
  if (!title[command]) {
    return show();
  }
  const place = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location: place, title: title[command] }, show);
}

/** Play a game in a terminal. */
async function play(uri) {
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (uri.scheme !== "file") {
    await vscode.window.showInformationMessage("herbrand: save the rules as a file, then they can be played.");
    return;
  }
  if (document && document.isDirty) {
    await document.save();
  }
  const [command] = vscode.workspace.getConfiguration("herbrand").get("command", ["herbrand", "lsp"]);
  const name = uri.path.split("/").pop();
  // no shell in between: a name of a file is only a name
  vscode.window.createTerminal({ name: `play ${name}`, shellPath: command, shellArgs: ["play", uri.fsPath] }).show();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("herbrand.restart", async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

async function deactivate() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) {
    await running.stop();
  }
}

module.exports = { activate, deactivate };
