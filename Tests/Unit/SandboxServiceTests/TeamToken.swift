import Clocks
import Foundation

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// A JWT as a team's server makes it, signed by OpenSSL.
struct TeamToken {
    enum Form {
        case jws, der
    }

    var key: String
    var header: [String: Any]
    var claims: [String: Any]
    var form = Form.jws

    /// A client secret (apple §2.4).
    static func secret(_ client: String = "example.acme.tv", team: String = "ACMETEAM01", now: Timestamp) -> TeamToken {
        let name = team == "ACMETEAM01" ? "acme" : "bravo"
        return TeamToken(
            key: "\(name)-sign-in", header: ["alg": "ES256", "kid": team == "ACMETEAM01" ? "ACMESIGN01" : "BRAVOSIGN1"],
            claims: [
                "iss": team, "sub": client, "aud": "https://appleid.apple.com", "iat": now.seconds, "exp": now.seconds + 600,
            ])
    }

    /// The bearer of a call to the App Store's server (apple §1.3).
    static func purchase(now: Timestamp) -> TeamToken {
        TeamToken(
            key: "acme-purchase", header: ["alg": "ES256", "kid": "ACMEPURCH1", "typ": "JWT"],
            claims: [
                "iss": AppleParty.issuer, "aud": "appstoreconnect-v1", "bid": "example.acme.tv", "iat": now.seconds, "exp": now.seconds + 1200,
            ])
    }

    func text() throws -> String {
        let input = try part(header) + "." + part(claims)
        let file = FileManager.default.temporaryDirectory.appending(path: "team-token-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(input.utf8).write(to: file)
        let made = try Tool.run("openssl", ["dgst", "-sha256", "-sign", Keys.shared.path("\(key).p256"), file.path()])
        if made.status != 0 { throw CocoaError(.executableLoad) }
        let der = [UInt8](made.output)
        return input + "." + Base64.urlText(form == .der ? der : Self.flat(der))
    }

    private func part(_ object: [String: Any]) throws -> String {
        Base64.urlText([UInt8](try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)))
    }

    /// r and s of 32 octets each, out of SEQUENCE { INTEGER, INTEGER }.
    private static func flat(_ der: [UInt8]) -> [UInt8] {
        let first = Array(der[4..<4 + Int(der[3])])
        let rest = der[(4 + first.count)...]
        let second = Array(rest.dropFirst(2))
        return [first, second].flatMap { number in
            let digits = number.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: 32 - digits.count) + digits
        }
    }
}
