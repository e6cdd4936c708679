internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Makes an MVPD's record of its SAML metadata: pasted, looked at, confirmed, and then in the draft (mvpd §2.7).
struct ConnectPages: Sendable {
    static let path = Console.address("connect")

    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        await page(ConnectForm(), nil, visitor, exchange)
    }

    /// What the metadata says, for a person to compare with what the MVPD told; nothing is kept.
    @Sendable func review(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var form = try ConnectForm(exchange)
        guard form.problems.isEmpty else { return await page(form, nil, visitor, exchange, status: .unprocessableContent) }
        let metadata = try await metadata(form, exchange, visitor)
        // What was fetched is confirmed, whatever the address has a moment later.
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
