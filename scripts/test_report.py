"""Opens a page of `pgmbench report` in Chromium and does what its readers do.

usage: test_report.py PAGE.html [--pictures FOLDER]

Standard library only: Chromium is spoken to over a pipe, in the protocol of its developer tools.
Ends with 1 and a list when something is not as it should be.
"""

import argparse
import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

PATIENCE_SECONDS = 120
PHONE = (390, 844)
DESKTOP = (1280, 900)


class Browser:
    """A Chromium with one page in it."""

    def __init__(self, program, profile):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def connect():
            # The browser reads from 3 and writes to 4. First out of the way of both.
            ends = [os.dup(to_browser), os.dup(from_browser)]
            while min(ends) < 5:
                ends = [os.dup(end) for end in ends]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        command = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
            f"--user-data-dir={profile}", "about:blank",
        ]
        self.process = subprocess.Popen(
            command, preexec_fn=connect, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.count = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self):
        end = time.monotonic() + PATIENCE_SECONDS
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self.read_end, 1 << 20)
            if not part:
                raise EOFError("Chromium has gone")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        while True:
            message = self.message()
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, address):
        self.call("Page.navigate", url=address)
        while self.value("document.readyState") != "complete":
            time.sleep(0.05)

    def value(self, expression):
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def window(self, size, dark=False, media=""):
        width, height = size
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def picture(self, file, height=None):
        options = {"format": "png"}
        if height:
            width = self.value("document.documentElement.clientWidth")
            clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
            options.update(clip=clip, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (EOFError, OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


COMPLAINTS = """(() => {
  const complaints = [];
  const shown = (element) => element.getClientRects().length > 0;
  for (const link of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(link.getAttribute("href").slice(1)))
      complaints.push(`a link leads nowhere: ${link.outerHTML}`);
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of ids.filter((id, at) => ids.indexOf(id) !== at))
    complaints.push(`an id is there twice: ${id}`);
  for (const figure of document.querySelectorAll("figure")) {
    const visible = [...figure.querySelectorAll("svg")].filter(shown);
    if (visible.length !== 1) complaints.push(`a figure shows ${visible.length} pictures`);
    for (const svg of visible) {
      const box = svg.getBoundingClientRect();
      if (!(box.width > 100 && box.height > 100)) complaints.push(`a figure is ${box.width} wide`);
      for (const text of svg.querySelectorAll("text")) {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        if (left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || bottom > box.bottom + 1)
          complaints.push(`a label is clipped: ${text.textContent}`);
      }
    }
  }
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth)
    complaints.push(`the page is ${page.scrollWidth} wide in a window of ${page.clientWidth}`);
  if (page.clientWidth < 600)
    for (const table of document.querySelectorAll(".scroll"))
      if (table.scrollWidth > table.clientWidth + 1)
        complaints.push(`a table is wider than the screen: ${table.textContent.trim().slice(0, 40)}`);
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) complaints.push(`a heading skips a level: ${heading.textContent}`);
    level = next;
  }
  return complaints;
})()"""

# Contrast of every text on its background (WCAG 2, 1.4.3), outside of pictures, whose paper is always
# the same and whose colours are checked where they are chosen.
CONTRAST = """(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const below = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("svg, script, style, [hidden]") || !element.getClientRects().length) continue;
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own) continue;
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(below(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.add(`${element.tagName}.${element.className}: ${contrast.toFixed(2)}`);
  }
  return [...faint];
})()"""

# Clicks a heading of every sortable table twice.
SORTING = """(() => {
  const complaints = [];
  let sorted = 0;
  for (const table of document.querySelectorAll("table.sortable")) {
    const caption = table.caption.textContent;
    for (const heading of [...table.tHead.rows[0].cells]) {
      const column = heading.cellIndex;
      const keys = () => [...table.tBodies[0].rows].map((row) => {
        const data = row.cells[column].querySelector("data");
        return data ? Number(data.value) : row.cells[column].textContent.trim();
      }).filter((key) => key !== "");
      const before = keys().length;
      for (const order of ["ascending", "descending"]) {
        heading.querySelector("button").click();
        if (heading.getAttribute("aria-sort") !== order)
          complaints.push(`${caption}, ${heading.textContent}: aria-sort is not ${order}`);
        const found = keys();
        if (found.length !== before) complaints.push(`${caption}: rows got lost`);
        if (found.some(Number.isNaN)) complaints.push(`${caption}, ${heading.textContent}: not a number`);
        if (!found.every((key) => typeof key === "number")) continue;
        const sign = order === "ascending" ? 1 : -1;
        if (found.some((key, at) => at > 0 && sign * (key - found[at - 1]) < 0))
          complaints.push(`${caption}, ${heading.textContent}: not ${order}`);
        sorted += 1;
      }
      const others = [...table.tHead.rows[0].cells].filter((cell) => cell !== heading);
      if (others.some((cell) => cell.getAttribute("aria-sort") !== "none"))
        complaints.push(`${caption}: two columns claim to be sorted`);
    }
  }
  if (document.querySelector("table.sortable") && sorted === 0)
    complaints.push("no column of numbers was sorted");
  return complaints;
})()"""

# The middle of the first mark that no later mark covers there, and what it should say. What is
# covered is reached by the keyboard alone.
FIRST_READING = """(() => {
  const shown = [...document.querySelectorAll(".reading")].filter((r) => r.getClientRects().length);
  if (!shown.length) return null;
  const middle = (mark) => {
    mark.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width, height } = mark.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  };
  const isOnTop = (mark) => {
    const { x, y } = middle(mark);
    return mark.contains(document.elementFromPoint(x, y));
  };
  const mark = shown.find(isOnTop) ?? shown[0];
  return { ...middle(mark), says: mark.getAttribute("aria-label") };
})()"""
TIP = 'document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent'


def check_readings(browser):
    reading = browser.value(FIRST_READING)
    if reading is None:
        return []
    complaints = []
    at = {"x": reading["x"], "y": reading["y"]}
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", **at)
    if browser.value(TIP) != reading["says"] or not reading["says"]:
        complaints.append(f"pointing at a mark shows {browser.value(TIP)!r}")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    browser.value('document.querySelector(".wide .reading").focus()')
    first = browser.value(TIP)
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight",
                     windowsVirtualKeyCode=39)
    second = browser.value(TIP)
    if not first or not second or first == second:
        complaints.append(f"the arrow keys go from {first!r} to {second!r}")
    stops = browser.value(
        '[...document.querySelectorAll(".wide")].map('
        '(p) => p.querySelectorAll(".reading[tabindex=\\"0\\"]").length)'
    )
    if any(count > 1 for count in stops):
        complaints.append(f"figures have several stops of the keyboard: {stops}")
    browser.value("document.activeElement.blur()")
    return complaints


def check(browser, page, pictures):
    complaints = []

    def note(where, found):
        complaints.extend(f"{where}: {complaint}" for complaint in found)

    def draw(name):
        if pictures:
            height = browser.value("document.documentElement.scrollHeight")
            browser.picture(pictures / f"{name}.png", min(height, 12000))

    browser.window(DESKTOP)
    browser.open(page.resolve().as_uri())
    note("desktop", browser.value(COMPLAINTS))
    note("light", browser.value(CONTRAST))
    draw("desktop-light")
    note("pointer and keyboard", check_readings(browser))
    note("sorting", browser.value(SORTING))
    browser.value('document.querySelectorAll("details").forEach((d) => { d.open = true; })')
    note("desktop, unfolded", browser.value(COMPLAINTS))

    browser.window(DESKTOP, dark=True)
    note("dark", browser.value(CONTRAST))
    browser.open(page.resolve().as_uri())
    draw("desktop-dark")

    browser.window(PHONE)
    browser.open(page.resolve().as_uri())
    note("phone", browser.value(COMPLAINTS))
    draw("phone")
    browser.value('document.querySelectorAll("details").forEach((d) => { d.open = true; })')
    note("phone, unfolded", browser.value(COMPLAINTS))

    browser.window((794, 1123), media="print")
    note("paper", browser.value(CONTRAST))
    draw("print")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    if not pdf.startswith(b"%PDF"):
        complaints.append("paper: no PDF")
    if pictures:
        (pictures / "print.pdf").write_bytes(pdf)

    for event in browser.events:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            complaints.append(f"console: {parameters['exceptionDetails'].get('text')}")
        if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            complaints.append(f"console: {parameters['args']}")
        if method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            complaints.append(f"console: {parameters['entry']['text']}")
        if method == "Network.requestWillBeSent":
            address = parameters["request"]["url"]
            if not address.startswith(("file:", "data:", "about:")):
                complaints.append(f"the page loads {address}")
    return complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--chromium", default="chromium")
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(arguments.chromium, profile)
        try:
            complaints = check(browser, arguments.page, arguments.pictures)
        finally:
            browser.close()
    for complaint in dict.fromkeys(complaints):
        print(complaint, file=sys.stderr)
    print(f"{arguments.page}: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
