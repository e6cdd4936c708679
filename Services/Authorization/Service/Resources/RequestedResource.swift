internal import CMrss
internal import Faults

/// What an app asks to play: a plain string agreed with MVPDs, or Media RSS (rest-v1 §1, mvpd §4.1).
struct RequestedResource: Hashable, Sendable {
    /// Longest resource in bytes (mvpd §4.1).
    static let largestByteCount = 16 * 1024

    struct Item: Hashable, Sendable {
        var title: String?
        var guid: String?
    }

    struct Rating: Hashable, Sendable {
        /// `urn:mpaa`, `urn:v-chip`, or what was sent; empty when nothing was.
        var scheme: String
        var value: String
    }

    /// As it was sent; answers and tokens repeat it.
    let text: String
    /// A plain string is the title of its channel.
    let channel: String
    let item: Item?
    let rating: Rating?
    let isMediaRss: Bool

    /// - Throws: `missing_resource` when it is empty; `malformed_authz_request` when it is too long, has control characters, or begins
    ///   with `<` and is no well-formed, DTD-free `rss` with a channel title (rest-v1 §3.14).
    init(_ text: String) throws(Fault) {
        guard !text.isEmpty else { throw Fault(.missingResource, "Required 'resource' is not present") }
        guard text.utf8.count <= Self.largestByteCount, !text.unicodeScalars.contains(where: Self.isForbidden) else { throw Self.malformed }
        self.text = text
        isMediaRss = text.utf8.first == UInt8(ascii: "<")
        guard isMediaRss else {
            channel = text
            item = nil
            rating = nil
            return
        }
        guard let content = Self.read(text) else { throw Self.malformed }
        (channel, item, rating) = content
    }

    private static let malformed = Fault(.malformedAuthzRequest, "The resource is malformed.")

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control && !"\t\r\n".unicodeScalars.contains(scalar)
    }

    private static func read(_ text: String) -> (String, Item?, Rating?)? {
        var description = MrssDescription()
        defer { mrss_clear(&description) }
        var text = text
        let understood = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { mrss_read($0.baseAddress, $0.count, &description) }
        }
        guard understood == 1, let channel = trimmed(description.channel_title), !channel.isEmpty else { return nil }
        let item = description.has_item == 1 ? Item(title: present(description.item_title), guid: present(description.item_guid)) : nil
        let rating = present(description.rating).map { Rating(scheme: scheme(trimmed(description.rating_scheme) ?? ""), value: $0) }
        return (channel, item, rating)
    }

    /// `urn:vchip` is in use too; MVPDs know `urn:v-chip` (rest-v1 §1).
    private static func scheme(_ sent: String) -> String { sent == "urn:vchip" ? "urn:v-chip" : sent }

    private static func present(_ text: UnsafePointer<CChar>?) -> String? {
        trimmed(text).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Without the XML white space around it: published samples are pretty-printed.
    private static func trimmed(_ text: UnsafePointer<CChar>?) -> String? {
        guard let text else { return nil }
        var slice = String(cString: text)[...]
        while slice.last?.isWhitespace == true { slice.removeLast() }
        return String(slice.drop(while: \.isWhitespace))
    }
}
