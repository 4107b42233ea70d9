"""The page of `tfprof report` in TensorBoard, for every recording below its --logdir.

TensorBoard finds it by itself where the package is installed. Its tab lists the recordings; pages are made when they are looked at.
"""

from __future__ import annotations

import os
import pathlib
import re
import threading
from typing import Any, Callable, Dict, Iterator

from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from . import Error, report

__all__ = ["Plugin"]
_TRACE = re.compile(r"\.pt\.trace\.json(\.gz)?$")
# TensorBoard loads it into a frame of its own. Names of recordings are text in it and never markup.
_SCRIPT = """
export async function render() {
  const answer = await fetch('./recordings');
  const names = await answer.json();
  const choice = document.createElement('select'), page = document.createElement('iframe');
  const show = () => { page.src = './page?recording=' + encodeURIComponent(choice.value); };
  for (const name of names) choice.append(new Option(name, name));
  choice.title = 'recording';
  choice.addEventListener('change', show);
  document.body.style.cssText = 'margin: 0; display: flex; flex-direction: column; height: 100vh; font-family: sans-serif';
  choice.style.cssText = 'margin: 8px; align-self: start';
  page.style.cssText = 'border: 0; flex: 1';
  if (names.length === 0) { document.body.append('No recordings are below the log directory.'); return; }
  document.body.append(choice, page);
  show();
}
"""


def _recordings(logdir: str) -> Iterator[str]:
    """Runs of plugins/profile and traces of PyTorch, by their names below the log directory."""
    for folder, folders, files in os.walk(logdir):
        place = pathlib.Path(os.path.relpath(folder, logdir))
        if place.parts[-2:] == ("plugins", "profile"):
            yield from (str(place / name) for name in folders)
            folders.clear()
        yield from (str(place / name) for name in files if _TRACE.search(name))


class Plugin(base_plugin.TBPlugin):
    plugin_name = "tfprof"

    def __init__(self, context: base_plugin.TBContext):
        self._logdir = context.logdir or (context.flags.logdir if context.flags else "") or ""
        self._making = threading.Lock()  # one page at a time: making one takes all cores
        self._has_found = False

    def get_plugin_apps(self) -> Dict[str, Callable[..., Any]]:
        return {"/index.js": self._script, "/recordings": self._list, "/page": self._page}

    def is_active(self) -> bool:
        self._has_found = self._has_found or (bool(self._logdir) and next(_recordings(self._logdir), None) is not None)
        return self._has_found

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="tfprof", disable_reload=True)

    @wrappers.Request.application
    def _script(self, request: wrappers.Request) -> Any:
        return http_util.Respond(request, _SCRIPT, "text/javascript")

    @wrappers.Request.application
    def _list(self, request: wrappers.Request) -> Any:
        return http_util.Respond(request, sorted(_recordings(self._logdir), reverse=True), "application/json")

    @wrappers.Request.application
    def _page(self, request: wrappers.Request) -> Any:
        name = request.args.get("recording", "")
        if name not in _recordings(self._logdir):
            return http_util.Respond(request, "no such recording", "text/plain", code=404)
        try:
            with self._making:
                page = report(pathlib.Path(self._logdir, name))
        except Error as error:
            return http_util.Respond(request, str(error), "text/plain", code=422)
        # The page allows its own script alone; TensorBoard wants to be told which one that is.
        scripts = re.findall(r"'sha256-([^']+)'", page[: page.index("<title>")])
        return http_util.Respond(request, page, "text/html", csp_scripts_sha256s=scripts)
