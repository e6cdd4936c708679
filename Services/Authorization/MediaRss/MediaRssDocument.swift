internal import CMrss
internal import TextEncodings

/// A resource as Media RSS (rest-v1 §1, mvpd §4.1), read by a parser that opens nothing and refuses DTDs.
public struct MediaRssDocument: Hashable, Sendable {
    public struct Item: Hashable, Sendable {
        public var title: String?
        public var guid: String?
    }

    public struct Rating: Hashable, Sendable {
        /// `urn:mpaa`, `urn:v-chip`, or what was sent; empty when nothing was.
        public var scheme: String
        public var value: String
    }

    /// Never empty.
    public let channelTitle: String
    public let item: Item?
    /// The item's, else the channel's.
    public let rating: Rating?

    /// - Returns: `nil` unless the text is a well-formed, DTD-free `rss` with a channel title.
    public init?(_ text: String) {
        var description = MrssDescription()
        defer { mrss_clear(&description) }
        var text = text
        let understood = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { mrss_read($0.baseAddress, $0.count, &description) }
        }
        guard understood == 1, let title = Self.present(description.channel_title) else { return nil }
        channelTitle = title
        item = description.has_item == 1 ? Item(title: Self.present(description.item_title), guid: Self.present(description.item_guid)) : nil
        let scheme = Self.scheme(Self.present(description.rating_scheme) ?? "")
        rating = Self.present(description.rating).map { Rating(scheme: scheme, value: $0) }
    }

    /// A document with a channel of that title and nothing else.
    /// - Parameter title: The title, in characters that XML can hold.
    public static func text(channel title: String) -> String {
        "<rss version=\"2.0\"><channel><title>\(MarkupEscapes.xmlText.escaped(title))</title></channel></rss>"
    }

    /// `urn:vchip` is in use too; MVPDs know `urn:v-chip` (rest-v1 §1).
    private static func scheme(_ sent: String) -> String { sent == "urn:vchip" ? "urn:v-chip" : sent }

    /// Without the white space around it (published samples are pretty-printed); `nil` when nothing is left.
    private static func present(_ text: UnsafePointer<CChar>?) -> String? {
        guard let text else { return nil }
        var slice = String(cString: text)[...]
        while slice.last?.isWhitespace == true { slice.removeLast() }
        slice = slice.drop(while: \.isWhitespace)
        return slice.isEmpty ? nil : String(slice)
    }
}
