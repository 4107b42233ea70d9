#!/usr/bin/env python3
"""Options that a person keeps in $XDG_CONFIG_HOME/tfprof/config.toml, and findings that are ignored by their fingerprint.

    check_personal.py TFPROF RECORDING      RECORDING: one with findings
"""
import json, os, pathlib, subprocess, sys, tempfile

tfprof, recording = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failed = 0


def expect(is_so, *what):
    global failed
    if not is_so:
        failed += 1
        print("WRONG:", *what)


class Place:
    """A working directory with a project's file and a person's."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / ".git").mkdir()
        (self.folder / "config/tfprof").mkdir(parents=True)

    def says(self, personal="", project=""):
        (self.folder / "config/tfprof/config.toml").write_text(personal)
        (self.folder / "tfprof.toml").write_text(project)
        return self

    def run(self, *arguments, **variables):
        where = {**os.environ, "XDG_CONFIG_HOME": str(self.folder / "config"), **variables}
        return subprocess.run([tfprof, *map(str, arguments)], cwd=self.folder, env=where, capture_output=True, text=True, check=False)

    def rules(self, *arguments, **variables):
        done = self.run("advise", recording, *arguments, "--format", "json", **variables)
        expect(done.returncode == 0, done.stderr)
        return [finding["rule"] for finding in json.loads(done.stdout)["findings"]]


def check_options(place):
    place.says('[advise]\nformat = "json"\n')
    expect(json.loads(place.run("advise", recording).stdout)["findings"], "a format")
    expect(place.run("advise", recording, "--format", "text").stdout[0] != "{", "the command line comes first")
    expect(place.run("advise", recording, "--config", "none").stdout[0] != "{", "--config none does without")
    expect(place.run("info", recording).stdout[0] != "{", "a table is about its command")
    expect(place.run("advise", recording, XDG_CONFIG_HOME="/nowhere").stdout[0] != "{", "another folder")
    home = place.folder / "home"
    home.mkdir()
    (place.folder / "config").rename(home / ".config")
    expect(place.run("advise", recording, HOME=str(home), XDG_CONFIG_HOME="").stdout[:1] == "{", "the home folder")
    expect(place.run("advise", recording, HOME=str(home), XDG_CONFIG_HOME="config").stdout[:1] == "{", "a relative folder is none")
    (home / ".config").rename(place.folder / "config")
    place.says('[all]\nformat = "json"\n\n[info]\nformat = "text"\n')
    expect(place.run("why", recording).stdout[0] == "{" and place.run("info", recording).stdout[0] != "{",
           "a command's own table comes before [all]")
    place.says('[all]\ncolor = "always"\n')
    expect("\x1b[" in place.run("advise", recording).stdout, "colours")
    place.says('[advise]\nmin-impact = "90%"\ncoverage = true\n')
    plain = place.run("advise", recording, "--config", "none").stdout
    expect(place.run("advise", recording).stdout == place.run(
        "advise", recording, "--min-impact", "90%", "--coverage", "--config", "none").stdout != plain, "numbers and flags")


def check_errors(place):
    for text, said in {
            '[advise]\nformt = "json"\n': "config.toml:2:1: [advise] has no key 'formt'; did you mean format?",
            '[advice]\nformat = "json"\n': "config.toml:2:1: there is no command 'advice'; did you mean [advise]?",
            'format = "json"\n': "config.toml:1:1: 'format' stands outside a table",
            '[advise]\nformat = "yaml"\n': "config.toml:2:1: --format is one of text,",
            '[advise]\nformat = ["json"]\n': "config.toml:2:1: format takes one value",
            '[advise]\npreset = "all"\n': "config.toml:2:1: preset is not a person's to say; a project's tfprof.toml says it",
            '[gate]\nmax-regression = "50%"\n': "is not a person's to say",
            '[advise]\noutput = "x"\n': "output is not a person's to say; it belongs on the command line",
            '[all]\nnothing = 1\n': "[all] has no key 'nothing'",
            '[advise\n': "config.toml:1:"}.items():
        place.says(text)
        done = place.run("advise", recording)
        expect(done.returncode == 2 and said in done.stderr, repr(text), done.returncode, done.stderr)
        expect(place.run("--version").returncode == 0, "what takes no options needs no file")


def check_ignore(place):
    place.says()
    every = json.loads(place.run("advise", recording, "--format", "json").stdout)
    first = every["findings"][0]
    others = [finding["rule"] for finding in every["findings"] if finding["fingerprint"] != first["fingerprint"]]
    ignored = json.loads(place.run("advise", recording, "--format", "json", "--ignore", first["fingerprint"]).stdout)
    expect({"rule": first["rule"], "reason": "--ignore", "count": 1} in ignored["coverage"]["suppressed"], ignored["coverage"])
    expect(first["fingerprint"] not in [finding["fingerprint"] for finding in ignored["findings"]], "--ignore")
    expect(set(finding["rule"] for finding in ignored["findings"]) <= set(others), "others stay")
    wanted = [finding["rule"] for finding in ignored["findings"]]
    place.says('[advise]\nignore = ["%s"]\n' % first["fingerprint"])
    expect(place.rules() == wanted, "a person's list")
    place.says('[all]\nignore = ["%s"]\n' % first["fingerprint"])
    expect(place.rules() == wanted, "a person's list of all commands")
    # A gate holds what everyone's would: the finding counts whatever a person ignores.
    budget = ["--budget", "findings.%s <= 0" % first["rule"]]
    expect(place.run("gate", recording, *budget).returncode == 1, "a person's list does not open a gate")
    expect(place.run("gate", recording, *budget, "--ignore", first["fingerprint"]).returncode == 0, "--ignore of a gate")
    place.says("", '[[suppress]]\nfingerprint = "%s"\nreason = "known"\n' % first["fingerprint"])
    expect(place.rules() == wanted and place.run("gate", recording, *budget).returncode == 0, "a project's list")
    place.says("", '[[suppress]]\nfingerprint = "0000000000000000"\nreason = "known"\n')
    expect("tfprof.toml:2: the suppression of 0000000000000000 takes nothing away" in place.run("advise", recording).stderr, "unused")
    place.says()
    expect("takes nothing away" not in place.run("advise", recording, "--ignore", "0" * 16).stderr, "unused, of a person")
    done = place.run("advise", recording, "--ignore", "12")
    expect(done.returncode == 2 and "'12' is no fingerprint" in done.stderr, done.stderr)
    place.says("", '[[suppress]]\nreason = "known"\n')
    expect("tfprof.toml:2:1: a suppression needs a rule, or a fingerprint" in place.run("advise", recording).stderr, "neither")


with tempfile.TemporaryDirectory() as folder:
    place = Place(folder)
    check_options(place)
    check_errors(place)
    check_ignore(place)
sys.exit(1 if failed else 0)
