# Sourced by all scripts below Tests, in the checkout. What they share. Two paths:
#   BOXOFFICE_TEST_BUNDLE   the Swift tests; default: those of the build for development
#   BOXOFFICE_BINARIES      folder of the programs under test; default: those of the build for development, where a suite measures those of the release build
export BOXOFFICE_TEST_BUNDLE=${BOXOFFICE_TEST_BUNDLE:-$PWD/.build/debug/boxofficePackageTests.xctest}

# The default of BOXOFFICE_BINARIES.
built_programs() { export BOXOFFICE_BINARIES=${BOXOFFICE_BINARIES:-$(readlink -f .build/debug)}; }

# release_programs SUITE [PARTS]: the same for a suite whose figures mean something on release programs alone. Builds the parts where nothing is given; refuses other
# programs.
release_programs() {
    if [ -z "${BOXOFFICE_BINARIES:-}" ]; then
        Shared/Tooling/build --release "${2:-programs}" >&2
        BOXOFFICE_BINARIES=$(readlink -f .build/release)
    fi
    export BOXOFFICE_BINARIES
    local told
    told=$("$BOXOFFICE_BINARIES/boxoffice" --version) || { echo "$1: there are no programs in $BOXOFFICE_BINARIES (BOXOFFICE_BINARIES)" >&2; exit 1; }
    case $told in
    *'release build'*) ;;
    *) echo "$1 needs release programs; $BOXOFFICE_BINARIES (BOXOFFICE_BINARIES) has $told" >&2; exit 1 ;;
    esac
}

# python_packages NAME REQUIREMENTS: prints the folder of a virtual environment with the packages of PyPI that a file names, which is made where it is not there or of
# other packages. Fails where they cannot be had.
python_packages() {
    local venv=${XDG_CACHE_HOME:-$HOME/.cache}/boxoffice/$1-venv
    if ! cmp -s "$2" "$venv/requirements.txt"; then
        /usr/bin/python3 -m venv --clear "$venv" >&2 && "$venv/bin/pip" install -q --disable-pip-version-check -r "$2" >&2 && cp "$2" "$venv/requirements.txt" || return 1
    fi
    echo "$venv"
}
