internal import Faults
internal import MediaRss

/// The resource that an app asks to play: a plain string agreed with MVPDs, or Media RSS (rest-v1 §1, mvpd §4.1).
struct RequestedResource: Hashable, Sendable {
    /// Longest resource in bytes (mvpd §4.1).
    static let largestByteCount = 16 * 1024

    /// As it was sent; answers and tokens repeat it.
    let text: String
    /// `nil` for a plain string.
    let mediaRss: MediaRssDocument?

    /// A plain string is the title of its channel.
    var channel: String { mediaRss?.channelTitle ?? text }

    /// - Throws: `missing_resource` when it is empty; `malformed_authz_request` when it is too long, has control characters or others that XML cannot
    ///   hold, as MVPDs are asked in XML, or begins with `<` and is no well-formed, DTD-free `rss` with a channel title (rest-v1 §3.14).
    init(_ text: String) throws(Fault) {
        guard !text.isEmpty else { throw Fault(.missingResource, "Required 'resource' is not present") }
        guard text.utf8.count <= Self.largestByteCount, !text.unicodeScalars.contains(where: Self.isForbidden) else { throw Self.malformed }
        self.text = text
        guard text.utf8.first == UInt8(ascii: "<") else {
            mediaRss = nil
            return
        }
        guard let document = MediaRssDocument(text) else { throw Self.malformed }
        mediaRss = document
    }

    static let malformed = Fault(.malformedAuthzRequest, "The resource is malformed.")

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\u{FFFE}" || scalar == "\u{FFFF}" { return true }
        return scalar.properties.generalCategory == .control && !"\t\r\n".unicodeScalars.contains(scalar)
    }
}
