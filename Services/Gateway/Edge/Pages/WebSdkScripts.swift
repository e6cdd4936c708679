internal import Cryptography
internal import FoundationEssentials
package import Hummingbird

/// The script of the web SDK (web-sdk §2): the newest one, and earlier ones that pages still name.
package struct WebSdkScripts: Sendable {
    /// The files that make the newest script, in their order.
    private static let parts = ["environment", "server", "picker", "models", "enabler", "page"]
    /// Hex digits of the hash of a script that are its version: an address with a version never has other content.
    private static let versionDigits = 16

    private let newest: StaticFile
    private let versions: [OctetText: StaticFile]

    /// - Parameter folder: Holds the parts of the script, and earlier scripts by any name in its folder `earlier`.
    /// - Returns: `nil` where there is no such folder: the pages are of an earlier release.
    /// - Throws: `PagesError`, naming the file that is missing or cannot be read.
    init?(folder: String) throws {
        let manager = FileManager.default
        guard manager.fileExists(atPath: folder) else { return nil }
        let texts = try Self.parts.map { try Pages.text("\(folder)/\($0).js") }
        let script = "(() => {\n\"use strict\";\n\(texts.joined(separator: "\n"))})();\n"
        let earlier = "\(folder)/earlier"
        let names = (try? manager.contentsOfDirectory(atPath: earlier))?.filter { $0.hasSuffix(".js") } ?? []
        newest = StaticFile(content: script, type: Pages.script)
        var versions = [OctetText(Self.version(of: script)): newest]
        for name in names {
            let text = try Pages.text("\(earlier)/\(name)")
            versions[OctetText(Self.version(of: text))] = StaticFile(content: text, type: Pages.script)
        }
        self.versions = versions
    }

    /// The version that a script has by its content.
    package static func version(of script: String) -> String { String(Hex.encode(SHA256.hash(script)).prefix(versionDigits)) }

    /// - Parameter version: The version that the address names; `nil`: the newest one, for five minutes.
    /// - Returns: `nil` where the gateway has no such version.
    package func response(_ version: String?, _ headers: HTTPFields) -> Response? {
        guard let file = version.map({ versions[OctetText($0)] }) ?? newest else { return nil }
        var response = file.response(
            ifNoneMatch: headers[.ifNoneMatch], acceptEncoding: headers[.acceptEncoding],
            cacheControl: version == nil ? StaticFile.shortly : "public, max-age=31536000, immutable")
        // Pages that are isolated from other origins load only what says this (HTML §7.1.4).
        response.headers[.crossOriginResourcePolicy] = "cross-origin"
        return response
    }
}
