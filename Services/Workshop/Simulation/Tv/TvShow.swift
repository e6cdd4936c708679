/// A program that runs on a TV in the terminal.
protocol TvShow: Actor {
    /// The screen that is shown now.
    var screen: TvScreen { get }
    var isOver: Bool { get }
    /// The person pressed Ctrl-C.
    var isInterrupted: Bool { get }

    /// Switches it on.
    /// - Throws: `CommandFailure` when an address cannot be used.
    func start() throws
    func press(_ key: TvKey)
    /// Ends all that runs.
    func stop()
}
