/// The bounds of what a connection of HTTP/1.1 makes the gateway hold.
enum Http1Bounds {
    /// The longest head, in octets, as in HTTP/2: the request line, names and values. Trailers count too.
    static let longestHead = 16 * 1024
    static let mostFields = 100
    /// The octets that are read of a connection at once.
    static let oneRead = 8 * 1024
    /// The octets that the parser holds without having understood them yet.
    static let mostUnparsed = longestHead + oneRead
    /// Parts of requests that may wait for the answer to an earlier one.
    static let mostWaiting = 64
    /// The same in octets, before which no more is read; one read may go beyond it.
    static let mostWaitingOctets = 64 * 1024
    /// Pieces of a body, each of at most `mostUnparsed` octets, before which no more is read until somebody takes them.
    static let mostPieces = 10
}
