/// An engine could not run a statement, or commit, for this reason.
public struct DatabaseError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// No room is left.
        case full
        /// The engine does not answer, or not in time.
        case unavailable
        /// The disk does not do what it was asked for, or its file system is mounted read-only.
        case diskFails
        /// Somebody else's transaction came between, or a key was taken meanwhile: it may run again.
        case conflict, duplicate
        /// The engine has more to do than it can, or took too long.
        case busy, late
        /// Anything else: a constraint, a statement that it does not know.
        case other
    }

    public let kind: Kind
    /// For the log: holds no argument.
    public let description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
