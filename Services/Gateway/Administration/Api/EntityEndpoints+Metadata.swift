internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// An MVPD's SAML metadata: looked at first, taken over with the fingerprints that a person has confirmed (mvpd §2.7).
extension EntityEndpoints {
    @Sendable func readMetadata(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let mvpd = try exchange.captured("id")
        let (document, address, fingerprints, expired, entry) = try AdministrationBody.object(exchange) { body in
            let address = body.optionalText("address")
            if !address.isEmpty {
                body.optional("fingerprints")?.problem("must not be there beside an address: confirm what was fetched, as metadata")
            }
            return (
                address.isEmpty ? body.text("metadata") : "", address, body.optional("fingerprints") == nil ? nil : body.texts("fingerprints"),
                body.optional("confirmExpired") == nil ? [] : body.texts("confirmExpired"), body.optional("entry")?.text ?? ""
            )
        }
        guard let fingerprints else {
            let review = ReviewProviderMetadataRequest(token: token, mvpdID: mvpd, document: document, address: address)
            let metadata = try await administration.reviewProviderMetadata(review, context: exchange.call)
            return Response(Document("metadata", Self.members(metadata)), format: .json)
        }
        let request = ImportProviderMetadataRequest(
            token: token, mvpdID: mvpd, document: document, fingerprints: fingerprints, entryJson: entry, ifMatch: try exchange.ifMatch(),
            confirmedCertificates: expired)
        let changed = try Self.changed(try await administration.importProviderMetadata(request, context: exchange.changingCall))
        var response = Self.reply(changed, status: request.ifMatch.isEmpty ? .created : .ok)
        if request.ifMatch.isEmpty { response.headers[.location] = collection.address(of: mvpd) }
        return response
    }

    private static func members(_ metadata: ProviderMetadata) -> [Document.Member] {
        [
            .init("entityId", .text(metadata.entityID)), .init("displayName", .optional(metadata.displayName)),
            .init("endpoints", .list(metadata.endpoints.map(endpoint), item: "endpoint")),
            .init("certificates", .list(metadata.certificates.map(certificate), item: "certificate")),
            .init("nameIdFormats", .list(metadata.nameIDFormats.map { .text($0) }, item: "format")),
            .init("wantsSignedRequests", .flag(metadata.wantsSignedRequests)),
            .init("validUntil", metadata.validUntilMilliseconds == 0 ? .null : .number(metadata.validUntilMilliseconds)),
            .init("problems", .list(metadata.problems.map(AdministrationDocuments.problem), item: "problem")),
            .init("warnings", .list(metadata.warnings.map(AdministrationDocuments.problem), item: "warning")),
            .init("document", .optional(metadata.document)), .init("entry", metadata.entryJson.isEmpty ? .null : .json(metadata.entryJson)),
        ]
    }

    private static func endpoint(_ endpoint: ProviderEndpoint) -> Document.Value {
        .object([
            .init("service", .text(endpoint.service)), .init("binding", .text(endpoint.binding)), .init("location", .text(endpoint.location)),
            .init("responseLocation", .optional(endpoint.responseLocation)),
        ])
    }

    private static func certificate(_ certificate: ProviderCertificate) -> Document.Value {
        .object([
            .init("sha256", .text(certificate.sha256)), .init("subject", .text(certificate.subject)),
            .init("notBefore", .number(certificate.notBeforeMilliseconds)), .init("notAfter", .number(certificate.notAfterMilliseconds)),
            .init("signs", .flag(certificate.signs)), .init("problem", .optional(certificate.problem)),
            .init("warning", .optional(certificate.warning)),
        ])
    }
}
