// Writes the catalog of one pi line to standard output: the tools that its own session registers,
// with the schemas that its models are shown.
//
//   node tests/agents/extract_catalog.mjs pi-1 [FOLDER] > policies/catalog/pi-1.yaml
//
// FOLDER holds `node_modules` (default: the folder of that name beside this script).

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HOW = "tests/agents/extract_catalog.mjs";

const CATALOGS = {
  "pi-0.73": { package: "@mariozechner/pi-coding-agent", date: "2026-11-30" },
  "pi-1": { package: "@earendil-works/pi-coding-agent", date: "2026-11-30" },
};

// What pi does not say itself: the groups of each tool and which argument plays which role.
const MEANINGS = {
  read: { groups: ["@read"], roles: { path: "path" } },
  grep: { groups: ["@read"], roles: { path: "path" } },
  find: { groups: ["@read"], roles: { path: "path" } },
  ls: { groups: ["@read"], roles: { path: "path" } },
  write: { groups: ["@write"], roles: { path: "path", content: "content" } },
  edit: { groups: ["@edit"], roles: { path: "path", content: "edits[].newText" } },
  bash: { groups: ["@exec"], roles: { command: "command" } },
  powershell: { groups: ["@exec"], roles: { command: "command" } },
  // The tools that a script calls are judged call by call; `models` sends data out by itself.
  codemode: { groups: ["@net"], roles: { content: "code" } },
  tool_search: { groups: [], roles: {} },
};

const [name, folder] = process.argv.slice(2);
if (!Object.hasOwn(CATALOGS, name ?? "")) {
  fail(`expected the name of a catalog: ${Object.keys(CATALOGS).join(" or ")}`);
}
const { package: packageName, date } = CATALOGS[name];
const here = dirname(fileURLToPath(import.meta.url));
const root = join(resolve(folder ?? join(here, name)), "node_modules", ...packageName.split("/"));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const catalog = {
  catalog: name,
  source: { package: packageName, version: manifest.version, date, how: HOW },
  tools: {},
};
for (const tool of await registeredTools()) {
  catalog.tools[tool.name] = entry(tool);
}
process.stdout.write(`# Made by ${HOW}: run it again instead of editing this.\n${block(catalog, "")}`);

/** Every tool of a fresh session that loads nothing of the user's, sorted by name. */
async function registeredTools() {
  const scratch = mkdtempSync(join(tmpdir(), "pi-"));
  process.env.PI_CODING_AGENT_DIR = scratch;
  process.env.PI_OFFLINE = "1";
  const pi = await import(pathToFileURL(join(root, manifest.exports["."].import)).href);
  // 1.x ships these two as extensions that its command loads and a library user must name.
  const extensionFactories = [pi.createCodemodeExtension, pi.createToolSearchExtension]
    .filter((factory) => factory !== undefined)
    .map((factory) => factory());
  try {
    const places = { cwd: scratch, agentDir: scratch };
    const resourceLoader = new pi.DefaultResourceLoader({ ...places, extensionFactories });
    await resourceLoader.reload();
    const sessionManager = pi.SessionManager.inMemory();
    const { session } = await pi.createAgentSession({ ...places, resourceLoader, sessionManager });
    const tools = session.getAllTools();
    session.dispose();
    return tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function entry(tool) {
  const meaning = MEANINGS[tool.name];
  if (meaning === undefined) {
    fail(`${packageName} ${manifest.version} has a new tool, ${tool.name}: say its groups and roles`);
  }
  const { groups, roles } = meaning;
  // Some descriptions point at a file of the package, wherever it is installed.
  const description = tool.description.replaceAll(root, packageName);
  return { description, groups, roles, schema: JSON.parse(JSON.stringify(tool.parameters)) };
}

/** The YAML block mapping of an object that is not empty. */
function block(mapping, indent) {
  return Object.entries(mapping)
    .map(([key, value]) => `${indent}${scalar(key)}:${after(value, indent)}`)
    .join("");
}

/** What follows a key's colon, to the end of its last line. */
function after(value, indent) {
  const nested = typeof value === "object" && value !== null && !Array.isArray(value);
  return nested && Object.keys(value).length > 0
    ? `\n${block(value, `${indent}  `)}`
    : ` ${flow(value)}\n`;
}

function flow(value) {
  if (Array.isArray(value)) {
    return `[${value.map(flow).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, item]) => `${scalar(key)}: ${flow(item)}`);
    return `{${pairs.join(", ")}}`;
  }
  return scalar(value);
}

function scalar(value) {
  if (value === null) {
    fail("a schema holds null, which a catalog cannot say");
  }
  if (typeof value !== "string") {
    return JSON.stringify(value);
  }
  // Words that YAML 1.1 reads as something else are quoted, whatever a strict loader makes of them.
  const plain = /^[A-Za-z][A-Za-z0-9 _./-]*[A-Za-z0-9]$/.test(value);
  const reserved = /^(y|yes|n|no|on|off|true|false|null)$/i.test(value);
  return plain && !reserved ? value : JSON.stringify(value);
}

function fail(message) {
  process.stderr.write(`extract_catalog: ${message}\n`);
  process.exit(2);
}
