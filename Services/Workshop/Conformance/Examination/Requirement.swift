/// One sentence of a contract, and how it is tried.
public struct Requirement: Sendable {
    /// Stable: `WIRE-12`, `CONFIG-7`. A number is never used again.
    public let id: String
    public let sentence: String
    /// It stands here: `WIRE.md §4`, `config.proto WatchConfiguration`.
    public let source: String
    /// True: takes time, not work; tried at the same time as others.
    let isIndependent: Bool
    /// True: stops the service; tried by itself, after all others.
    let isDisruptive: Bool
    let check: @Sendable (Examination) async throws -> Void

    init(
        _ id: String, _ sentence: String, source: String, isIndependent: Bool = false, isDisruptive: Bool = false,
        check: @escaping @Sendable (Examination) async throws -> Void
    ) {
        self.id = id
        self.sentence = sentence
        self.source = source
        self.isIndependent = isIndependent
        self.isDisruptive = isDisruptive
        self.check = check
    }
}
