package import CatalogueFiles
package import Clocks
internal import Cryptography
internal import Foundation
package import ManualClocks

/// A folder with a catalogue file and a provider's certificate; removed with the fixture.
package final class CatalogueFolder: Sendable {
    package static let now = Timestamp(seconds: 1_900_000_000)

    package let path: String
    package let clock = ManualClock(now)

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-config-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try write(try Self.provider.get(), to: "idp.crt")
        try write(Self.small, to: "catalogue.json")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package var file: CatalogueFile { CatalogueFile(path: path + "/catalogue.json") }

    package func write(_ text: String, to name: String) throws {
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path + "/" + name).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name), options: .atomic)
    }

    /// The small catalogue with one part replaced.
    package func replace(_ part: String, with other: String) throws {
        precondition(Self.small.contains(part), "the catalogue has no '\(part)'")
        try write(Self.small.replacingOccurrences(of: part, with: other), to: "catalogue.json")
    }

    /// The problems of the catalogue file.
    package func problems() -> [String] {
        do throws(CatalogueRejection) {
            _ = try file.read(now: Self.now)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    private static let provider = Result { try certificate() }

    /// The key of certificates that differ by their validity alone: a key of 2048 bits takes its time.
    private static let key = Result { PrivateKey.rsa(try RSAPrivateKey.generate()) }

    /// A self-signed certificate with an RSA key of 2048 bits, always the same one.
    package static func certificate(validFrom: Timestamp = now - .seconds(86_400), to: Timestamp = now + .seconds(86_400)) throws -> String {
        let validity = CertificateValidity(notBefore: validFrom, notAfter: to)
        return try CertifiedKey.selfSigned(commonName: "Harbor IdP", key: key.get(), validity: validity).certificate.pem()
    }

    package static let small = """
        {
          "programmers": [{"id": "harbor", "name": "Harbor"}],
          "requestors": [{"id": "NEWS", "name": "News", "programmer": "harbor", "domains": ["news.example"]}],
          "mvpds": [
            {
              "id": "TinyCable", "displayName": "Tiny Cable", "authzTtl": 3600,
              "saml": {
                "idpEntityId": "https://idp.tiny.example", "ssoUrl": "https://idp.tiny.example/sso", "requestBinding": "post",
                "signingCertificates": [{"file": "idp.crt"}]
              },
              "authorization": {"protocol": "xacmlJson", "url": "https://pdp.tiny.example/"}
            }
          ],
          "integrations": [{"requestor": "NEWS", "mvpd": "TinyCable"}],
          "applications": [
            {"id": "news-tv", "name": "News TV", "programmer": "harbor", "requestors": ["NEWS"], "platforms": ["tvos"], "scopes": ["api:client:v1"]}
          ]
        }
        """
}
