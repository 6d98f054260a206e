"""Pages of recordings, opened from files in Chromium without a network."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from browsers import NO_GL, chromium, needs_chromium
from matplotlib import pyplot as plt
from recordings import T, about_z, bodies, packed, pose, recording

from spart_blocks.animation.page import page_of
from spart_blocks.base.errors import InputError

pytestmark = needs_chromium
NOT_A_NUMBER = {
    "name": "a",
    "t": packed([0.0, 1.0]),
    "v": packed([[np.nan], [1.0]]),
    "scope": 0,
}


@pytest.fixture
def opened(browser, tmp_path):
    """opened(**changes): the page of the recording, in the browser."""

    def show(**changes):
        path = written(tmp_path, recording(**changes))
        browser.open(path)
        return browser

    return show


def written(folder, content):
    path = folder / "motion.html"
    try:
        path.write_text(page_of(content), encoding="utf-8")
    except InputError as error:
        pytest.skip(str(error))
    return path


def time_of(browser):
    return browser.run("return spart.time")


def at(browser, time):
    """The hand's pose in the scene at a time."""
    return np.array(browser.run("spart.seek(arguments[0]); return spart.poses().hand", time))


def test_poses_in_the_scene_are_those_of_the_tracks(opened):
    browser = opened()
    times = [*T, *np.linspace(0, 2, 33), 1 - 1e-9, 1 + 1e-9]
    read = "return arguments[0].map(time => (spart.seek(time), spart.poses().hand))"
    poses = np.array(browser.run(read, [float(time) for time in times]))
    for time, got in zip(times, poses, strict=True):
        p, angle = pose(time)
        q = about_z([angle])[0]
        np.testing.assert_allclose(got[:3], p, atol=1e-5)
        assert min(np.abs(got[3:] - q).max(), np.abs(got[3:] + q).max()) < 1e-5
    assert browser.run("return spart.poses().base") == [0, 0, 0, 0, 0, 0, 1]


def test_nothing_is_asked_of_a_network_and_nothing_complains(opened):
    browser = opened()
    browser.drawn()
    assert browser.requests() == []
    assert browser.complaints() == []


def test_the_robots_are_drawn(opened):
    browser = opened()
    browser.run("spart.seek(0.5)")
    browser.drawn()
    picture = plt.imread(BytesIO(browser.find(".stage").screenshot_as_png))
    red, blue = picture[..., 0], picture[..., 2]
    for colour in (blue - red, red - blue):  # the base, and the ball in the hand
        assert np.count_nonzero(colour > 0.2) > 500
    assert np.unique(picture.reshape(-1, picture.shape[-1]), axis=0).shape[0] > 500  # is shaded


def test_play_moves_the_time_and_pause_holds_it(opened):
    browser = opened()
    browser.find("[aria-label=Play]").click()
    passed = "const look = () => spart.time > arguments[0] ? done(1) : requestAnimationFrame(look);"
    assert browser.run_async(passed + "look();", 0.05)
    browser.find("[aria-label=Pause]").click()
    held = time_of(browser)
    browser.drawn()
    assert time_of(browser) == held > 0


def test_a_motion_ends_where_it_does_not_loop(opened):
    browser = opened(end=0.05)
    browser.press("o", " ")
    ended = "const look = () => spart.time >= 0.05 ? done(1) : requestAnimationFrame(look); look();"
    assert browser.run_async(ended)
    browser.drawn()
    assert browser.find("[aria-label=Play]").is_displayed()


def test_keys_move_the_time(opened):
    from selenium.webdriver.common.keys import Keys

    browser = opened()
    browser.press(Keys.END)
    assert time_of(browser) == 2
    browser.press(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert time_of(browser) == pytest.approx(0.02)
    browser.press(Keys.PAGE_UP, ".")
    assert time_of(browser) == pytest.approx(0.222)
    browser.press("]", "]", "[")
    assert browser.find("[aria-label=Speed]").get_attribute("value") == "2"


def test_every_key_acts_without_complaint(opened):
    from selenium.webdriver.common.keys import Keys

    browser = opened()
    browser.press(*"xgvifwasd+-p", Keys.SHIFT, Keys.ARROW_UP, Keys.ARROW_LEFT, Keys.SHIFT, "?")
    browser.drawn()
    assert browser.find("dialog").is_displayed()
    assert not browser.find(".panel").is_displayed()
    assert browser.complaints() == []


def test_the_slider_and_the_scopes_scrub(opened):
    browser = opened()
    slider = "const one = document.querySelector('.controls [type=range]'); one.value = 1.5;"
    browser.run(slider + "one.dispatchEvent(new Event('input'))")
    assert time_of(browser) == 1.5
    browser.find(".plot canvas:last-child").click()
    middle = time_of(browser)
    assert middle == pytest.approx(0.9, abs=0.15)  # axes are left of the lines
    assert at(browser, middle)[0] == pytest.approx(pose(middle)[0][0], abs=1e-5)


def test_values_at_the_cursor(opened):
    browser = opened()
    read = "return [...document.querySelectorAll('.readout output')].map(one => one.textContent)"
    browser.run("spart.seek(0.5)")
    assert browser.run(read) == ["0.500", "1.500", "7.000", "0.500", "1.000"]
    browser.run("spart.seek(1)")  # of a jump, what is after it
    assert browser.run(read)[:2] == ["5.000", "3.000"]


def test_the_drawing_shows_values_and_does_nothing_else(opened):
    browser = opened()
    inner = "document.querySelector('.diagram').shadowRoot"
    browser.run("spart.seek(0.5)")
    spans = browser.run(f"return [...{inner}.querySelectorAll('tspan')].map(s => s.textContent)")
    assert [text.split() for text in spans] == [
        ["qm", "0.500", "1.500"], ["um", "0.500", "1.000"], ["ctrl", "7.000"],
    ]  # fmt: skip
    left = "script, foreignObject, a, [onclick], [onload]"
    assert browser.run(f"return {inner}.querySelectorAll(arguments[0]).length", left) == 0
    assert browser.run(f"return {inner}.querySelector('image').attributes.length") == 2
    assert browser.run("return window.harm ?? null") is None
    assert browser.requests() == []


def test_names_are_texts(opened):
    browser = opened()
    assert browser.find(".heading").text == "hand <b>made</b>"
    assert browser.driver.title == "hand <b>made</b>"


@pytest.mark.parametrize(
    "changes",
    [
        {"signals": [], "diagram": "", "arrows": []},
        {"diagram": "no svg <"},
        {"bodies": []},
        {"end": 0.0},
        {"up": "y"},
        {"bodies": [{**bodies()[1], "track": bodies()[0]["track"]}], "arrows": []},
        {
            "signals": [
                {"name": "a", "t": packed([0.0, 1]), "v": packed([[np.nan], [1]]), "scope": 0}
            ]
        },
    ],
    ids=["bare", "no-svg", "no-bodies", "a-moment", "y-up", "one-row", "not-a-number"],
)
def test_recordings_that_lack_something(opened, changes):
    browser = opened(**changes)
    browser.run("spart.seek(0.7)")
    browser.press(*"fxgvi")
    browser.drawn()
    assert browser.complaints() == []
    assert len(browser.run("return spart.poses()")) == len(changes.get("bodies", bodies()))


def test_another_format_is_refused_in_the_page(opened):
    browser = opened(format=7)
    assert "format 1, not 7" in browser.find("#app [role=alert]").text


def test_narrow_and_dark(opened):
    browser = opened()
    browser.show_in("dark")
    browser.driver.set_window_size(520, 800)
    try:
        browser.drawn()
        stage, panel = (browser.find(name).rect for name in (".stage", ".panel"))
        assert panel["y"] >= stage["y"] + stage["height"]
        ground = "return getComputedStyle(document.querySelector('.panel')).backgroundColor"
        assert browser.run(ground) == "rgb(23, 27, 33)"
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    finally:
        browser.driver.set_window_size(1280, 860)
        browser.show_in()


def test_without_webgl_the_scopes_work(tmp_path):
    path = written(tmp_path, recording())
    with chromium(tmp_path / "profile", *NO_GL) as browser:
        browser.open(path)
        assert "no WebGL" in browser.find("[role=alert]").text
        np.testing.assert_allclose(at(browser, 0.5)[:3], pose(0.5)[0], atol=1e-5)
        assert browser.find(".readout output").text == "0.500"
