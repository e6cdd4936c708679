internal import CatalogueFiles
internal import Contracts
internal import GatewayEdge

/// What somebody typed to connect an MVPD: its metadata, and what metadata cannot say.
struct ConnectForm {
    /// Octets; config reads no more (mvpd §2.7).
    private static let longest = 256 * 1024
    private static let protocols: [(value: String, label: String)] = [
        ("none", "none: everybody who is signed in may watch"), ("xacmlJson", "XACML in JSON"), ("xacmlXml", "XACML in XML"),
        ("xacmlSoap", "XACML over SOAP"), ("restMrss", "REST with Media RSS"),
    ]

    private(set) var id = ""
    var document = ""
    /// Where the metadata is, in place of itself.
    private(set) var address = ""
    private(set) var name = ""
    private(set) var fingerprints: [String] = []
    /// Of certificates that are not valid now, and are taken nevertheless.
    private(set) var expired: [String] = []
    private var days = "30"
    private var decisionHours = "24"
    private var decisions = "none"
    private var decisionURL = ""
    private var userID = ""
    var problems: [String] = []

    init() {}

    init(_ exchange: Exchange) throws {
        func typed(_ name: String) throws -> String { (try exchange.value(name) ?? "").trimmed }
        (id, document, name, address) = (try typed("id"), try typed("metadata"), try typed("displayName"), try typed("address"))
        fingerprints = try exchange.all("fingerprint").filter { !$0.isEmpty }
        expired = try exchange.all("confirmExpired").filter { !$0.isEmpty }
        decisions = try exchange.value("decisions") ?? "none"
        (decisionURL, userID) = (try typed("decisionUrl"), try typed("userIdAttribute"))
        if let sent = try exchange.value("days") { days = sent.trimmed }
        if let sent = try exchange.value("decisionHours") { decisionHours = sent.trimmed }
        if id.isEmpty { problems.append("Give the MVPD an id.") }
        if document.isEmpty, address.isEmpty { problems.append("Paste the MVPD's metadata, or give its address.") }
        if document.utf8.count > Self.longest { problems.append("The metadata is longer than 256 KiB. Paste the MVPD's own EntityDescriptor alone.") }
        if seconds(days, 86_400) == nil { problems.append("The days of a sign-in must be a number from 1 to 365.") }
        if seconds(decisionHours, 3600) == nil { problems.append("The hours of a decision must be a number from 1 to 8760.") }
    }

    func confirms(_ certificate: ProviderCertificate, among fingerprints: [String]) -> Bool {
        fingerprints.contains { OctetText($0) == OctetText(certificate.sha256) }
    }

    /// A tick of the second kind says nothing without one of the first.
    var expiredAmongPinned: [String] { expired.filter { one in fingerprints.contains { OctetText($0) == OctetText(one) } } }

    private func seconds(_ text: String, _ unit: Int) -> Int? {
        guard let count = Int(text), (1...31_536_000 / unit).contains(count) else { return nil }
        return count * unit
    }

    /// Members of the entry that are not of the metadata.
    var entry: JsonTree {
        var tree = JsonTree.object([:])
        if !name.isEmpty { tree.set(["displayName"], to: .string(name)) }
        if let seconds = seconds(days, 86_400) { tree.set(["authnTtl"], to: .number("\(seconds)")) }
        if let seconds = seconds(decisionHours, 3600) { tree.set(["authzTtl"], to: .number("\(seconds)")) }
        tree.set(["authorization", "protocol"], to: .string(decisions))
        if !decisionURL.isEmpty { tree.set(["authorization", "url"], to: .string(decisionURL)) }
        // The NameID is the person's id, unless an attribute is.
        let source: [String: JsonTree] = userID.isEmpty ? [:] : ["source": .string(userID)]
        tree.set(["saml", "attributeMap"], to: .array([.object(source.merging(["target": .string("userID")]) { own, _ in own })]))
        if !userID.isEmpty { tree.set(["saml", "guidAttributeName"], to: .string(userID)) }
        return tree
    }

    /// An entry of a discovery document, with what the person has still to fill in.
    func beginning(_ metadata: ProviderMetadata) -> String {
        var tree = JsonTree.reading(metadata.entryJson)
        tree.set(["id"], to: .string(id))
        tree.set(["displayName"], to: .string(name.isEmpty ? id : name))
        tree.set(["authnTtl"], to: .number("2592000"))
        tree.set(["authzTtl"], to: .number("86400"))
        tree.set(["authorization", "protocol"], to: .string("none"))
        tree.set(["oauth", "clientId"], to: .string(""))
        tree.set(["oauth", "clientSecretReference"], to: .string(""))
        return PrettyJson.text(tree)
    }

    var content: [String: Any] {
        [
            "mvpdId": id, "document": document, "address": address, "displayName": name, "days": days, "decisionHours": decisionHours,
            "decisionUrl": decisionURL,
            "userIdAttribute": userID, "formProblems": problems, "hasProblems": !problems.isEmpty,
            "protocols": Self.protocols.map {
                ["protocolValue": $0.value, "protocolLabel": $0.label, "isProtocol": $0.value == decisions] as [String: Any]
            },
        ]
    }
}
