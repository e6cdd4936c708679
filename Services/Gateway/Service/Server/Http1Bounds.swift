/// Of the head of a request in HTTP/1.1.
enum Http1Bounds {
    /// Of a whole head, in octets, as in HTTP/2: the request line, names and values.
    static let longestHead = 16 * 1024
    static let mostFields = 100
}
