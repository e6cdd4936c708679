/// What a connection of HTTP/1.1 may make the gateway hold.
enum Http1Bounds {
    /// Of a whole head, in octets, as in HTTP/2: the request line, names and values. Trailers count too.
    static let longestHead = 16 * 1024
    static let mostFields = 100
    /// What is read of a connection at once, in octets.
    static let oneRead = 8 * 1024
    /// What the parser holds of what it has not understood yet, in octets.
    static let mostUnparsed = longestHead + oneRead
    /// Parts of requests that may wait for the answer to an earlier one.
    static let mostWaiting = 64
    /// The same in octets, before which no more is read; one read may go beyond it.
    static let mostWaitingOctets = 64 * 1024
    /// Pieces of a body, each of at most `mostUnparsed` octets, before which no more is read until somebody takes them.
    static let mostPieces = 10
}
