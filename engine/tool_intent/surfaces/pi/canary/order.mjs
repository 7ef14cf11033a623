/** Prints the extensions that pi would load in a folder, in order, with the events each handles. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [root, cwd] = process.argv.slice(2);
const pi = await import(pathToFileURL(join(root, "dist", "index.js")).href);
const agentDir = pi.getAgentDir();
const settingsManager = pi.SettingsManager.create(cwd, agentDir);
const loader = new pi.DefaultResourceLoader({ cwd, agentDir, settingsManager });
await loader.reload();
const found = loader.getExtensions().extensions.map((one) => ({ path: one.path, events: [...one.handlers.keys()] }));
console.log(`\n${JSON.stringify(found)}`);
process.exit(0);
