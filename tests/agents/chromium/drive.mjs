// Opens a page in headless Chromium and does what the plan on standard input says:
//   {"page": URL, "scheme": "light"|"dark", "width", "height",
//    "steps": [{"press": KEY} | {"type": TEXT} | {"click": SELECTOR} | {"evaluate": EXPRESSION}
//              | {"screenshot": FILE, "whole": BOOL}]}
// Prints {"values": what the expressions gave, "requests": URLs asked for, "errors": of the page}.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium as browsers } from "playwright-core";

// The package unpacks itself into the folder for temporary files; ours is beside it.
const home = join(import.meta.dirname, "node_modules", ".unpacked");
mkdirSync(home, { recursive: true });
process.env.TMPDIR = home;
// It brings the libraries of a desktop where it thinks that it runs at its usual host.
process.env.AWS_LAMBDA_JS_RUNTIME = "nodejs22.x";
const { default: chromium } = await import("@sparticuz/chromium");
const executable = await chromium.executablePath();
const brought = process.env.LD_LIBRARY_PATH;
delete process.env.LD_LIBRARY_PATH;
if (execFileSync("ldd", [executable], { encoding: "utf8" }).includes("not found"))
  process.env.LD_LIBRARY_PATH = brought;
if (existsSync("/usr/share/fonts")) delete process.env.FONTCONFIG_PATH;

let text = "";
for await (const chunk of process.stdin) text += chunk;
const plan = JSON.parse(text);

const args = chromium.args.filter((arg) => !arg.startsWith("--headless") && arg !== "--disable-web-security");
const browser = await browsers.launch({ executablePath: executable, args, headless: true });
try {
  const page = await browser.newPage({
    colorScheme: plan.scheme ?? "light",
    viewport: { width: plan.width ?? 1280, height: plan.height ?? 900 },
    deviceScaleFactor: plan.scale ?? 1,
  });
  const requests = [];
  const errors = [];
  const values = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(plan.page);
  for (const step of plan.steps ?? []) {
    if ("press" in step) await page.keyboard.press(step.press);
    else if ("type" in step) await page.keyboard.type(step.type);
    else if ("click" in step) await page.click(step.click);
    else if ("evaluate" in step) values.push(await page.evaluate(step.evaluate));
    else if ("screenshot" in step)
      await page.screenshot({ path: step.screenshot, fullPage: step.whole ?? false });
  }
  console.log(JSON.stringify({ values, requests, errors }));
} finally {
  await browser.close();
}
