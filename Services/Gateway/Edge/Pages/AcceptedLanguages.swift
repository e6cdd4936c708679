/// What `Accept-Language` asks for (RFC 9110 §12.5.4).
struct AcceptedLanguages {
    /// What is read of the field, in octets, and how many languages of it: browsers send less.
    private static let longestField = 512
    private static let mostRanges = 24

    private var ranges: [(tag: String, quality: Int)] = []

    init(_ field: String) {
        let known =
            field.utf8.count <= Self.longestField ? field[...] : Substring(String(decoding: field.utf8.prefix(Self.longestField), as: UTF8.self))
        for entry in known.split(separator: ",").prefix(Self.mostRanges) {
            let parts = entry.lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let tag = parts.first, !tag.isEmpty, tag.utf8.count <= 35 else { continue }
            ranges.append((tag, parts.dropFirst().first.map { QualityValue($0).thousandths } ?? 1000))
        }
    }

    /// - Parameter offered: Tags; the first one serves whoever wants another than those that are named.
    /// - Returns: The tag that is wanted most; `nil` when none is.
    func best(of offered: [String]) -> String? {
        var best: (tag: String, quality: Int, place: Int)?
        for tag in offered {
            let (quality, place) = quality(of: tag.lowercased())
            guard quality > 0 else { continue }
            if let known = best, (known.quality, -known.place) >= (quality, -place) { continue }
            best = (tag, quality, place)
        }
        return best?.tag
    }

    /// A range stands for a language when it names it, a part of it (`pt-BR` for `pt`), or all of which it is a part (`pt` for `pt-BR`); `*` for what nothing
    /// else names (RFC 4647 §3.4).
    /// - Returns: The quality, and the place of the range in the field.
    private func quality(of tag: String) -> (quality: Int, place: Int) {
        let named = ranges.enumerated().filter { Self.isPart($0.element.tag, of: tag) || Self.isPart(tag, of: $0.element.tag) }
        let candidates = named.isEmpty ? ranges.enumerated().filter { $0.element.tag == "*" } : named
        let best = candidates.max { ($0.element.quality, -$0.offset) < ($1.element.quality, -$1.offset) }
        return best.map { ($0.element.quality, $0.offset) } ?? (0, 0)
    }

    private static func isPart(_ narrow: String, of wide: String) -> Bool { narrow == wide || narrow.hasPrefix(wide + "-") }
}
