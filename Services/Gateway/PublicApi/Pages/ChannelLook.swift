internal import CatalogueFiles
internal import Contracts
internal import Cryptography
internal import Foundation
internal import GatewayEdge

/// How the pages look for a channel, by the catalogue.
struct ChannelLook: Sendable {
    /// The requestor's id.
    let id: String
    let name: String
    /// Empty: none.
    let logo: String
    /// Pages of the channel, as the foot of a page links to them: `privacy`, `terms` and `support`, as far as it has them.
    let links: [String: String]
    /// A style sheet of nothing but colours; empty: as usual.
    let style: String

    init(_ requestor: Requestor) {
        id = requestor.id
        name = ShownText(requestor.name.isEmpty ? requestor.id : requestor.name).text
        logo = LogoAddress.usable(requestor.logoURL)
        let pages = ["privacy": requestor.privacyURL, "terms": requestor.termsURL, "support": requestor.supportURL]
        // Whatever a catalogue has: a page links to nothing that a catalogue could not have.
        links = pages.filter { !$0.value.isEmpty && CatalogueURL.pageProblem($0.value) == nil }
        style = Self.style(accent: WebColor(requestor.accentColor), header: WebColor(requestor.headerColor))
    }

    /// The same for a page.
    var page: PageLook { PageLook(content: content, style: style, styleSource: styleSource) }

    /// For the templates `channel` and `foot`.
    var content: [String: Any] {
        var content: [String: Any] = ["name": name]
        if !logo.isEmpty { content["logo"] = ["address": logo] }
        if !links.isEmpty { content["links"] = links }
        return content
    }

    /// The source by which a content policy allows the style sheet (CSP 3 §2.3.1).
    var styleSource: String { "'sha256-\(Base64.standard.encode(SHA256.hash(Array(style.utf8))))'" }

    /// `--paper` and `--ground` of `style.css`.
    private static let light = ["#ffffff", "#eef1f5"].compactMap(WebColor.init)
    private static let dark = ["#18212b", "#0e141a"].compactMap(WebColor.init)

    private static func style(accent: WebColor?, header: WebColor?) -> String {
        var (plain, dark) = ("", "")
        if let accent {
            plain += colors(accent.readable(on: light, towards: .black), "accent")
            dark = ":root{\(colors(accent.readable(on: Self.dark, towards: .white), "accent"))}"
        }
        if let header { plain += colors(header, "channel") }
        guard !plain.isEmpty else { return "" }
        return ":root{\(plain)}" + (dark.isEmpty ? "" : "@media (prefers-color-scheme:dark){\(dark)}")
    }

    private static func colors(_ color: WebColor, _ name: String) -> String { "--\(name):\(color.text);--\(name)-ink:\(color.ink.text);" }
}

/// The address of a logo, which may come from anybody who describes an MVPD.
enum LogoAddress {
    private static let longest = 2048
    /// `"`, `'`, `<`, `>`, a backslash: none of them stands in an address (RFC 3986 §2).
    private static let marks: Set<UInt8> = [0x22, 0x27, 0x3C, 0x3E, 0x5C]

    /// - Returns: Empty unless a browser may be sent there for a picture.
    static func usable(_ address: String) -> String {
        guard address.utf8.count <= longest, ["https://", "http://"].contains(where: { address.lowercased().hasPrefix($0) }),
            address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.marks.contains($0) })
        else { return "" }
        return address
    }
}

/// A name of a device, channel or provider as a page shows it.
///
/// Signs that turn the direction of what follows, or that nobody sees, are left out: with them a name could look like another one.
struct ShownText {
    /// At most 80 characters.
    let text: String

    private static let most = 80

    init(_ name: String) {
        var shown = String.UnicodeScalarView()
        // No name that anybody could read is longer; characters may have any number of marks.
        for scalar in name.unicodeScalars.prefix(Self.most * 4) where !Self.isHidden(scalar) { shown.append(scalar) }
        let text = String(shown)
        self.text = text.count > Self.most ? text.prefix(Self.most - 1) + "…" : text
    }

    /// One or two letters in place of a logo.
    var initials: String {
        let words = text.split { !$0.isLetter && !$0.isNumber }.prefix(2)
        return words.compactMap(\.first).map { String($0.unicodeScalars.prefix(3)) }.joined().uppercased()
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Marks, embeddings, overrides and isolates of direction; the zero-width space.
        case 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF: true
        default: scalar.properties.generalCategory == .control
        }
    }
}

/// A colour, and how well it can be told from another one (WCAG 2.2 §1.4.3).
struct WebColor: Equatable {
    /// From 0 to 255.
    var red, green, blue: Double

    static let white = WebColor(red: 255, green: 255, blue: 255)
    static let black = WebColor(red: 0, green: 0, blue: 0)

    /// The contrast that text needs (level AA).
    static let readable = 4.5

    init(red: Double, green: Double, blue: Double) { (self.red, self.green, self.blue) = (red, green, blue) }

    /// - Parameter text: `#rrggbb`; `nil` when it is none.
    init?(_ text: String) {
        guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#"), let value = UInt32(text.dropFirst(), radix: 16),
            text.utf8.dropFirst().first != UInt8(ascii: "+")
        else { return nil }
        self.init(red: Double(value >> 16), green: Double(value >> 8 & 255), blue: Double(value & 255))
    }

    /// `#rrggbb`.
    var text: String { "#" + [red, green, blue].map(Self.hex).joined() }

    /// From 1 to 21.
    func contrast(with other: WebColor) -> Double {
        let (first, second) = (luminance, other.luminance)
        return (max(first, second) + 0.05) / (min(first, second) + 0.05)
    }

    /// Black or white, whichever can be read better on it: one of both always can.
    var ink: WebColor { contrast(with: .white) >= contrast(with: .black) ? .white : .black }

    /// The same or as little darker or lighter as it takes to be read on each of the grounds.
    /// - Parameter end: Black for light grounds, white for dark ones.
    func readable(on grounds: [WebColor], towards end: WebColor) -> WebColor {
        for step in 0..<20 {
            let mixed = mixed(with: end, share: Double(step) / 20)
            if grounds.allSatisfy({ mixed.contrast(with: $0) >= Self.readable }) { return mixed }
        }
        return end
    }

    private func mixed(with other: WebColor, share: Double) -> WebColor {
        // Whole numbers, as they will be written: the contrast is judged of what is shown.
        WebColor(
            red: (red + (other.red - red) * share).rounded(), green: (green + (other.green - green) * share).rounded(),
            blue: (blue + (other.blue - blue) * share).rounded())
    }

    private var luminance: Double { 0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue) }

    private static func linear(_ part: Double) -> Double {
        let value = part / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func hex(_ part: Double) -> String {
        let digits = String(Int(part), radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
}
