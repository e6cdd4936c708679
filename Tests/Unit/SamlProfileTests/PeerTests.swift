import Clocks
import Foundation
import SamlProfile
import SamlSigner
import Testing

/// Sign-ins with an independent implementation of SAML (mvpd §5).
struct PeerTests {
    private static let hasPysaml2 = run(["-c", "import saml2"])

    /// Debian's own Python, for which the package is installed.
    private static func run(_ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test(
        "mvpd #20: pysaml2 accepts our metadata and request, and we accept its response",
        .enabled(if: hasPysaml2, "python3-pysaml2 is not installed"),
        arguments: ["assertion", "response", "both"])
    func signsInWithPysaml2(signed: String) throws {
        let world = try World.shared.get()
        let now = SystemClock().now()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("saml-peer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ text: String, _ name: String) throws { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }

        let own = world.serviceProvider
        let key = try SamlSigningKey(pem: own.privateKeyPEM, certificate: own.certificateDER)
        var generator = SystemRandomNumberGenerator()
        let request = AuthnRequest(
            id: RequestID(using: &generator), issuedAt: now, destination: "https://idp.harbor.example/sso",
            assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService, serviceProviderEntityID: ResponseTemplate.serviceProvider,
            onBehalfOf: "NEWSBRAND")
        let metadata = ServiceProviderMetadata(
            serviceProviderEntityID: ResponseTemplate.serviceProvider, assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService,
            signingCertificates: [own.certificateDER], encryptionCertificate: own.certificateDER, validUntil: now + .seconds(3600))
        try write(try metadata.document(requestor: "NEWSBRAND", id: RequestID(using: &generator), signedWith: key), "metadata.xml")
        try write(try request.postForm(signedWith: key, relayState: nil).fields[0].value, "request.b64")
        try write(world.identityProvider.privateKeyPEM, "idp.key")
        try write(world.identityProvider.certificatePEM, "idp.crt")

        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Peers/pysaml2_idp.py").path
        try #require(Self.run([program, folder.path, signed]))
        let xml = String(decoding: try Data(contentsOf: folder.appendingPathComponent("response.xml")), as: UTF8.self)
        let expected = try world.expected {
            $0.requestID = request.id.rawValue
            $0.requestedAt = now
            $0.issuerSent = request.issuer
            $0.signaturePolicy = signed == "both" ? .both : signed == "response" ? .response : .assertion
        }
        guard case .accepted(let assertion) = try world.report(xml, expected, at: SystemClock().now()).verdict else {
            Issue.record("not accepted: \(try world.outcome(xml, expected, at: SystemClock().now()))")
            return
        }
        #expect(assertion.userID.rawValue == "k3Yq-0091")
        #expect(assertion.attributes == [MappedAttribute(key: "householdID", value: .string("house-7"))])
    }
}
