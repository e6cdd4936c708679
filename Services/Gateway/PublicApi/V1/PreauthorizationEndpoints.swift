internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Which of several resources may be watched (rest-v1 §3.16, §3.17).
struct PreauthorizationEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    @Sendable func preauthorize(_ exchange: Exchange) async throws -> Response {
        let (call, resources) = try await reader.read(exchange, others: Self.resources)
        let request = PreauthorizeRequest(call: call, resources: resources)
        return reply(try await dependencies.authorization.preauthorize(request, context: exchange.call), exchange)
    }

    @Sendable func preauthorizeByCode(_ exchange: Exchange) async throws -> Response {
        let credentials = try Credentials.optional(exchange)
        let request: PreauthorizeByCodeRequest
        do {
            request = PreauthorizeByCodeRequest(
                accessToken: credentials?.accessToken ?? "", requestor: try requestor(exchange, credentials), code: try exchange.captured("code"),
                resources: try Self.resources(exchange), clientAddress: exchange.facts.clientAddress.text,
                signedRequest: credentials?.signed)
        } catch {
            if let credentials { _ = try await dependencies.authentication.verifyAccessToken(credentials.verification(), context: exchange.call) }
            throw error
        }
        return reply(try await dependencies.authorization.preauthorizeByCode(request, context: exchange.call), exchange)
    }

    /// - Throws: `missing_resource` when the parameter is absent; an empty one is left to the service.
    private static func resources(_ exchange: Exchange) throws(Fault) -> ResourceList {
        guard let text = try exchange.value("resource") else { throw Fault(.missingResource, "Required 'resource' is not present") }
        return ResourceList(text: text)
    }

    private func requestor(_ exchange: Exchange, _ credentials: Credentials?) throws(Fault) -> String {
        var id: String
        do { id = try exchange.value("requestor") ?? "" } catch { throw Fault(.invalidRequestor, error.message) }
        if id.isEmpty { id = credentials?.signedRequestor ?? "" }
        exchange.serves([id])
        return try dependencies.catalogue.current().requireRequestor(id).id
    }

    private func reply(_ answer: Preauthorization, _ exchange: Exchange) -> Response {
        let errors = (try? exchange.value("requestor")).flatMap { (try? dependencies.catalogue.current())?.requestor($0) }?.enhancedErrors == true
        let items = answer.resources.map { item in
            var members: [Document.Member] = [.init("id", .text(item.id)), .init("authorized", .flag(item.authorized))]
            if errors, let refusal = item.refusal { members.append(.init("error", .object(error(refusal, exchange)))) }
            return Document.Value.object(members)
        }
        let list = Document.Value.list(items, item: "resource")
        var response: Response
        switch exchange.format {
        case .json: response = Response(json: JSONWriter.write(.object([.init("resources", list)])), status: .ok)
        // The root is the list itself.
        case .xml: response = Response(Document("resources", items.map { .init("resource", $0) }), format: .xml)
        }
        response.headers[.adobeResponseConfidence] = answer.isPartial ? "partial" : "full"
        return response
    }

    /// The flat object of rest-v1 §2.8 within an item.
    private func error(_ refusal: ResourceRefusal, _ exchange: Exchange) -> [Document.Member] {
        let row = ErrorTable.row(for: Fault.Code(rawValue: refusal.code))
        return ErrorDocument.enhanced(
            action: row.action, status: row.statuses[0], code: row.code, message: ErrorTexts.item(row.action),
            details: refusal.details.isEmpty ? nil : refusal.details, help: exchange.facts.host.help(row.code),
            trace: exchange.facts.trace.traceID
        ).members
    }
}
