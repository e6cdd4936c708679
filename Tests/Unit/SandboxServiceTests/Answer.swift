import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// A SAML answer taken apart for expectations.
struct Answer {
    let xml: String
    let root: XmlElement

    init(_ xml: String) throws {
        self.xml = xml
        root = try XmlElement(parsing: Array(xml.utf8))
    }

    /// Top-level status, then the second level.
    var statuses: [String] {
        let top = root.only("Status", in: XmlNames.protocol)?.only("StatusCode", in: XmlNames.protocol)
        return [top, top?.only("StatusCode", in: XmlNames.protocol)].compactMap { $0?.attributes["Value"] }
    }

    var assertion: XmlElement? {
        root.only("Assertion", in: XmlNames.assertion)
            ?? root.only("EncryptedAssertion", in: XmlNames.assertion)?.only("Assertion", in: XmlNames.assertion)
    }

    var nameID: XmlElement? { assertion?.only("Subject", in: XmlNames.assertion)?.only("NameID", in: XmlNames.assertion) }

    var authnInstant: String? { assertion?.only("AuthnStatement", in: XmlNames.assertion)?.attributes["AuthnInstant"] }

    func attribute(_ name: String) -> [String] {
        let attributes = assertion?.only("AttributeStatement", in: XmlNames.assertion)?.children("Attribute", in: XmlNames.assertion) ?? []
        return attributes.filter { $0.attributes["Name"] == name }.flatMap { attribute in
            attribute.children("AttributeValue", in: XmlNames.assertion).compactMap(\.text)
        }
    }

    /// True when the xmlsec1 program finds the signature over the named element good.
    func verifies(_ element: String, certificate: String) throws -> Bool {
        try Tool.run(
            "xmlsec1", ["--verify", "--pubkey-cert-pem", Keys.shared.path(certificate), "--id-attr:ID", element], on: xml
        ).status == 0
    }
}
