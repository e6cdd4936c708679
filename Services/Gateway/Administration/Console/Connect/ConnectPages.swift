internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// Makes an MVPD's record of its SAML metadata: pasted, looked at, confirmed, and then in the draft (mvpd §2.7).
struct ConnectPages: Sendable {
    static let path = Console.address("connect")

    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        await page(ConnectForm(), nil, visitor, exchange)
    }

    /// The content of the metadata, for a person to compare with the MVPD's own word; nothing is kept.
    @Sendable func review(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var form = try ConnectForm(exchange)
        guard form.problems.isEmpty else { return await page(form, nil, visitor, exchange, status: .unprocessableContent) }
        let metadata = try await metadata(form, exchange, visitor)
        // The fetched document is confirmed, whatever the address has a moment later.
        if !metadata.document.isEmpty { form.document = metadata.document }
        return await page(form, metadata, visitor, exchange)
    }

    @Sendable func take(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var form = try ConnectForm(exchange)
        let metadata = try await metadata(form, exchange, visitor)
        if form.fingerprints.isEmpty {
            form.problems.append("Confirm at least one certificate: compare its fingerprint with what the MVPD told you.")
        }
        for certificate in metadata.certificates where !certificate.warning.isEmpty && form.confirms(certificate, among: form.fingerprints) {
            if !form.confirms(certificate, among: form.expired) { form.problems.append("A certificate \(certificate.warning).") }
        }
        guard form.problems.isEmpty else { return await page(form, metadata, visitor, exchange, status: .unprocessableContent) }
        let request = ImportProviderMetadataRequest(
            token: visitor.secret, mvpdID: form.id, document: form.document, fingerprints: form.fingerprints, entryJson: form.entry.canonical,
            confirmedCertificates: form.expiredAmongPinned)
        switch try await console.administration.importProviderMetadata(request, context: exchange.changingCall).outcome {
        case .changed: return Console.seeOther(ConsoleCollection.mvpds.address(of: form.id, query: ["saved": "1"]))
        case .refusal(let refusal):
            form.problems.append(refusal.message)
            form.problems += refusal.problems.map { $0.field.isEmpty ? $0.message : "\($0.field) \($0.message)" }
            return await page(form, metadata, visitor, exchange, status: AdministrationError(refusal).status)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    private func metadata(_ form: ConnectForm, _ exchange: Exchange, _ visitor: Visitor) async throws -> ProviderMetadata {
        let request = ReviewProviderMetadataRequest(
            token: visitor.secret, mvpdID: form.id, document: form.document, address: form.document.isEmpty ? form.address : "")
        return try await console.administration.reviewProviderMetadata(request, context: exchange.call)
    }

    private func page(
        _ form: ConnectForm, _ metadata: ProviderMetadata?, _ visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status = .ok
    ) async -> Response {
        var content = form.content
        content["mvpdsAddress"] = ConsolePlace.mvpds.address
        if let metadata {
            content["found"] = ConnectPreview(metadata, form, origin: console.dependencies.settings.originOfSignIns).content
            let isUsable = metadata.problems.isEmpty
            if metadata.entryJson.isEmpty {
                content["mayTake"] = isUsable ? ["takeAddress": Console.address("connect", "take")] : nil
            } else if isUsable {
                content["mayAdd"] = ["addAddress": Console.address("new", "mvpds"), "entryJson": form.beginning(metadata)]
            }
        }
        return await console.page("connect", "Connect an MVPD", in: .mvpds, content, for: visitor, exchange, status: status)
    }
}

/// The preview of metadata for the template: the part that is understood, the doubts, and the reasons against it.
struct ConnectPreview {
    let content: [String: Any]

    /// - Parameter origin: Where people come back to.
    init(_ metadata: ProviderMetadata, _ form: ConnectForm, origin: String) {
        let confirmed = Set(form.fingerprints.map { OctetText($0) })
        let expired = Set(form.expired.map { OctetText($0) })
        content = [
            "entityId": metadata.entityID.isEmpty ? "–" : metadata.entityID, "foundName": metadata.displayName.isEmpty ? "–" : metadata.displayName,
            "nameToUse": form.name.isEmpty ? (metadata.displayName.isEmpty ? form.id : metadata.displayName) : form.name,
            "endpoints": metadata.endpoints.map {
                ["endpointService": $0.service, "endpointBinding": Self.last($0.binding), "endpointLocation": $0.location]
            } + Self.callback(metadata, form, origin),
            "formats": metadata.nameIDFormats.isEmpty ? "none is named" : metadata.nameIDFormats.map(Self.last).joined(separator: ", "),
            "wantsSigned": metadata.wantsSignedRequests ? "Yes" : "No",
            "validUntil": metadata.validUntilMilliseconds == 0
                ? "it does not say" : DisplayedTime(milliseconds: metadata.validUntilMilliseconds).text,
            "certificates": metadata.certificates.enumerated().map { index, certificate in
                Self.certificate(
                    certificate, index, isConfirmed: confirmed.contains(OctetText(certificate.sha256)),
                    isExpiryConfirmed: expired.contains(OctetText(certificate.sha256)))
            },
            "obstacles": metadata.problems.map(Self.text), "hasObstacles": !metadata.problems.isEmpty,
            "doubts": metadata.warnings.map(Self.text), "hasDoubts": !metadata.warnings.isEmpty,
        ]
    }

    /// The callback that the MVPD has to register for us, if it is a provider of OAuth.
    private static func callback(_ metadata: ProviderMetadata, _ form: ConnectForm, _ origin: String) -> [[String: String]] {
        guard !metadata.entryJson.isEmpty, !form.id.isEmpty else { return [] }
        let address = "\(origin)\(KnownPaths.oauthCallback)/\(PercentEncoding.encode(form.id))"
        return [["endpointService": "our redirect URI, to be registered there", "endpointBinding": "", "endpointLocation": address]]
    }

    private static func certificate(_ certificate: ProviderCertificate, _ index: Int, isConfirmed: Bool, isExpiryConfirmed: Bool) -> [String: Any] {
        var content: [String: Any] = [
            "certificateId": "certificate-\(index)", "sha256": certificate.sha256, "groupedSha256": grouped(certificate.sha256),
            "subject": certificate.subject.isEmpty ? "–" : certificate.subject,
            "notAfter": DisplayedTime(milliseconds: certificate.notAfterMilliseconds).text, "isForEncryption": !certificate.signs,
            "mayConfirm": certificate.signs && certificate.problem.isEmpty, "isConfirmed": isConfirmed, "certificateProblem": certificate.problem,
            "hasCertificateProblem": !certificate.problem.isEmpty, "certificateNumber": index + 1,
        ]
        if !certificate.warning.isEmpty {
            content["validity"] = ["validityWarning": certificate.warning, "isExpiryConfirmed": isExpiryConfirmed] as [String: Any]
        }
        return content
    }

    /// In groups that the eye can follow.
    private static func grouped(_ digits: String) -> String {
        stride(from: 0, to: digits.utf8.count, by: 8).map { start in
            String(decoding: Array(digits.utf8)[start..<min(start + 8, digits.utf8.count)], as: UTF8.self)
        }.joined(separator: " ")
    }

    private static func text(_ problem: FieldProblem) -> String { problem.field.isEmpty ? problem.message : "\(problem.field) \(problem.message)" }

    /// The last part of a URI, which tells it from the others.
    private static func last(_ uri: String) -> String { uri.split(separator: ":").last.map(String.init) ?? uri }
}

/// The input to connect an MVPD: its metadata, and the facts that metadata cannot say.
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
    /// The certificates that are not valid now, and are taken nevertheless.
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
