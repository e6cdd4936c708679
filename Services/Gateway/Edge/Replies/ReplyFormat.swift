/// The two formats of the API.
enum ReplyFormat: String, Hashable, Sendable {
    case json
    case xml

    /// - Parameters:
    ///   - suffix: Of the path, without its dot; wins.
    ///   - parameter: `format`; comes second.
    ///   - accept: The `Accept` header.
    /// - Returns: XML without any preference (rest-v1 §2.3).
    init(suffix: String?, parameter: String?, accept: String?) {
        self =
            suffix.flatMap(ReplyFormat.init(rawValue:)) ?? parameter.flatMap { ReplyFormat(rawValue: $0.lowercased()) }
            ?? accept.flatMap(Self.preferred) ?? .xml
    }

    /// The better of the two types by q value, the first on a tie; wildcards say nothing.
    private static func preferred(in accept: String) -> ReplyFormat? {
        if let format = named(accept) { return format }
        var best: (format: ReplyFormat, quality: Double)?
        for entry in accept.split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let type = parts.first, let format = named(type) else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            if quality > 0, quality > best?.quality ?? 0 { best = (format, quality) }
        }
        return best?.format
    }

    private static func named(_ type: String) -> ReplyFormat? {
        switch type {
        case "application/json", "text/json": .json
        case "application/xml", "text/xml": .xml
        default: nil
        }
    }
}
