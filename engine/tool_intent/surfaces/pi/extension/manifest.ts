/** What `tool-intent pi install` wrote down beside this file. */
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Manifest {
	/** The interpreter that the engine is installed for: an absolute path. */
	python: string;
	/** The version of tool-intent that installed the extension. */
	version: string;
	/** `extend` changes the live schema of every tool; `shadow` also replaces pi's own four. */
	mode: "extend" | "shadow";
}

/** The manifest; throws an error that says how to mend it. */
export function manifest(): Manifest {
	const path = join(dirname(fileURLToPath(import.meta.url)), "install.json");
	let found: any;
	try {
		found = JSON.parse(readFileSync(path, "utf8"));
	} catch (error) {
		throw new Error(`${path} cannot be read (${(error as Error).message}): run \`tool-intent pi install\` again`);
	}
	if (typeof found?.python !== "string" || !isAbsolute(found.python)) {
		throw new Error(`${path} names no interpreter by an absolute path: run \`tool-intent pi install\` again`);
	}
	return found;
}
