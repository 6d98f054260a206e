// Lets the search work where the site is opened from files: there browsers start no worker. Its
// script runs in a hidden frame in its place. A page that comes from a server keeps its workers.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = "<!doctype html><html><body></body></html>"
      this.frame.onload = () => this.begin(new URL(url, location.href).href)
      document.addEventListener("DOMContentLoaded", () => this.attach())
      this.attach()
    }

    attach() {
      if (document.body && !this.frame.isConnected) document.body.append(this.frame)
    }

    begin(url) {
      const inner = this.frame.contentWindow
      inner.postMessage = data => this.answer(data)
      inner.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve())
      this.load(url).then(() => {
        const waiting = this.waiting
        this.waiting = null
        waiting.forEach(data => this.postMessage(data))
      })
    }

    load(url) {
      return new Promise((done, failed) => {
        const script = this.frame.contentDocument.createElement("script")
        script.src = url
        script.onload = done
        script.onerror = () => failed(new Error(`cannot load ${url}`))
        this.frame.contentDocument.body.append(script)
      })
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
    }

    answer(data) {
      const event = new MessageEvent("message", { data })
      if (this.onmessage) this.onmessage(event)
      this.dispatchEvent(event)
    }

    terminate() {
      this.frame.remove()
    }
  }
}
