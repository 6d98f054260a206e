"""Every kind of field of the page, and how one comes into it, for tests that type long texts."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys

COUNT = 5000
TYPED = """
const one = document.activeElement;
return one.value === undefined ? one.innerText : one.value
"""


def block_field(page):
    page.click("gain")
    page.wait("document.querySelector(`.field textarea[name='K']`)")
    page.browser.find(".field textarea[name=K]").click()


def block_name(page):
    page.click("gain")
    page.wait("document.querySelector('.form-name')").click()


def name_on_the_sheet(page):
    page.click("gain")
    page.press("F2")
    page.wait("document.activeElement.matches('input.block-name')")


def parameter_of_the_file(page):
    page.wait("document.querySelector(`.field textarea[name='k']`)").click()


def new_parameter(page):
    page.wait("document.querySelector('[aria-label=\"Name of a new parameter\"]')").click()


def palette(page):
    page.browser.find(".palette input").click()


def search(page):
    page.press("Ctrl+f")
    page.wait("document.activeElement.matches('dialog[open] input')")


def quick_add(page):
    page.press("Ctrl+k")
    page.wait("document.activeElement.matches('dialog[open] input')")


def claim(page):
    page.browser.find("#tab-tests").click()
    page.press_text("Add a claim…")
    page.wait("document.querySelector('.claim-form input')").click()


def text_beside(page):
    page.press("Ctrl+e")
    page.wait("document.querySelectorAll('.code .cm-line').length > 1")
    page.wait("document.activeElement.matches('.code .cm-content')")
    page.press("Ctrl+END")


def cell(page):
    block_field(page)
    page.press("F4")
    page.wait("document.activeElement.matches('.value-dialog td input')")


def window(page):
    cell(page)
    page.press_text("Text")
    page.wait("document.querySelector('.value-dialog textarea')").click()


KINDS = (
    block_field, block_name, name_on_the_sheet, parameter_of_the_file, new_parameter, palette,
    search, quick_add, claim, text_beside, cell, window,
)  # fmt: skip


def check(page, into, typing):
    """Type or paste a long text into a field of a newly opened file: it is all there, and nothing
    else has happened. Then shortcuts of the page are typed; they belong to the field."""
    page.browser.run("document.activeElement.blur()")
    into(page)
    page.press("Ctrl+END")
    before = page.browser.run(TYPED)
    text = ("2.5, wdp," * COUNT)[:COUNT]
    typing(page, text)
    page.wait("(document.activeElement.value ?? document.activeElement.innerText).length >= 5000")
    for _ in range(3):
        page.press("BACKSPACE", "DELETE")
    found = page.browser.run(TYPED)
    if into is not text_beside:  # of a long line it draws what is seen
        assert found == before + text[:-3]
    assert page.browser.run("return document.activeElement !== document.body")
    if into is text_beside:
        page.press("Ctrl+z")
        while page.browser.run("return document.querySelector('.code-state.wrong') !== null"):
            page.press("Ctrl+z")
    else:
        page.driver.switch_to.active_element.send_keys(Keys.CONTROL + "a" + Keys.NULL, before or " ")
    page.press("ESCAPE", "ESCAPE")
