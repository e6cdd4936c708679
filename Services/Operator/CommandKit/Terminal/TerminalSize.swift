internal import Foundation

/// How large the terminal is that standard output goes to.
enum TerminalSize {
    /// Columns that lines have to fit; `nil`: standard output is no terminal, and what reads it wants whole lines.
    static var columns: Int? { isatty(STDOUT_FILENO) == 1 ? current.width : nil }

    /// Columns and rows; 80 and 24 where they are not known.
    static var current: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
