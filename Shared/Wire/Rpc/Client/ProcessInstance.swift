/// This run of the program among all programs that call a peer.
enum ProcessInstance {
    /// Random, never 0.
    static let number = UInt64.random(in: 1 ... .max)
}
