#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Clocks
internal import Hummingbird
internal import NIOCore
internal import SandboxKit
internal import ServiceLifecycle

/// The decision points, with the disturbances that tests set.
struct DecisionRoutes: Sendable {
    private static let largestRequest = 256 * 1024

    let providers: [String: IdentityProvider]
    let clock: any WallClock
    let log: RequestLog
    let disturbances: Disturbances
    let serviceURL: String
    let oauth: [String: OAuthProvider]

    func add(to router: Router<SandboxContext>) {
        router.post("/pdp/{mvpd}") { request, context in try await decide(request, context) }
        router.get("/pdp/{mvpd}") { request, context in try await decide(request, context) }
    }

    private func decide(_ request: Request, _ context: SandboxContext) async throws -> Response {
        guard let provider = providers[try context.parameters.require("mvpd")] else { throw HTTPError(.notFound) }
        log.count("pdp", mvpd: provider.id)
        let disturbance = disturbances.take(for: provider.id)
        if disturbance.mode == .hang || disturbance.delay > .zero {
            return try await late(disturbance, request, provider, context)
        }
        return try await act(disturbance, body: request.body, request, provider, context)
    }

    /// Answers after a while; ends early when the caller leaves or the stand-in stops.
    private func late(
        _ disturbance: Disturbance, _ request: Request, _ provider: IdentityProvider, _ context: SandboxContext
    ) async throws -> Response {
        do {
            return try await cancelWhenGracefulShutdown {
                try await request.body.consumeWithCancellationOnInboundClose { body in
                    try await Task.sleep(for: disturbance.mode == .hang ? .seconds(86_400) : disturbance.delay)
                    return try await act(disturbance, body: body, request, provider, context)
                }
            }
        } catch let cancellation as CancellationError {
            note(provider, "abandoned")
            throw cancellation
        }
    }

    private func act(
        _ disturbance: Disturbance, body: RequestBody, _ request: Request, _ provider: IdentityProvider, _ context: SandboxContext
    ) async throws -> Response {
        switch disturbance.mode {
        case .none, .hang:
            let octets = Array(buffer: try await body.collect(upTo: Self.largestRequest))
            return try answer(octets, request, provider, disturbance)
        case .error:
            note(provider, "error")
            return Response(status: .internalServerError)
        case .reset:
            note(provider, "reset")
            try await Self.reset(context.channel)
            return Response(status: .internalServerError)
        case .malformed:
            note(provider, "malformed")
            let isJson = Self.type(request) == XacmlNames.mediaType
            return Self.answer(isJson ? #"{"Response":[{"Decision":"# : "<Response><Result>", isJson ? XacmlNames.mediaType : Self.xmlType)
        }
    }

    private func answer(
        _ octets: [UInt8], _ request: Request, _ provider: IdentityProvider, _ disturbance: Disturbance
    ) throws -> Response {
        guard request.method == .get || [XacmlNames.mediaType, "text/xml", "application/xml", "application/xacml+xml"].contains(Self.type(request))
        else {
            note(provider, "refused", ["reason": "content type"])
            throw HTTPError(.unsupportedMediaType, message: "The content type must be \(XacmlNames.mediaType) or XML")
        }
        let holder: OAuthGrant?
        if let issuer = oauth[provider.id] {
            // An OAuth provider's decision point knows people by its own access tokens (mvpd §4.1).
            holder = issuer.grant(bearer: request.headers[.authorization], at: clock.now())
            guard holder != nil else {
                note(provider, "refused", ["reason": "bearer"])
                return Response(status: .unauthorized, headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])
            }
        } else {
            holder = nil
        }
        var message: DecisionMessage
        do throws(SettingsFault) {
            message = try read(octets, request, provider)
        } catch {
            note(provider, "refused", ["reason": "\(error)"])
            throw HTTPError(.badRequest, message: "\(error)")
        }
        if let person = holder.flatMap({ provider.subscribers.person(named: $0.person) }) {
            message.request.subject = provider.subscribers.persistentName(of: person)
        }
        let answer = disturbance.shape.applied(
            to: DecisionPoint(subscribers: provider.subscribers).decide(message.request, reauthorizeAfter: disturbance.reauthorizeAfter),
            asked: message.request.resources, channels: provider.subscribers.channels)
        note(provider, answer, message, request)
        return try Self.response(answer, to: message, disturbance.soap, provider, clock.now())
    }

    private func read(_ octets: [UInt8], _ request: Request, _ provider: IdentityProvider) throws(SettingsFault) -> DecisionMessage {
        if request.method == .get { return try rest(request) }
        let reader = DecisionMessageReader(
            serviceProvider: provider.serviceProvider, destination: "\(serviceURL)/pdp/\(provider.id)",
            validateRequests: provider.settings.validateRequests)
        let hasBearer = request.headers[.authorization]?.hasPrefix("Bearer ") == true
        return try reader.read(octets, type: Self.type(request), hasBearer: hasBearer, at: clock.now())
    }

    private func rest(_ request: Request) throws(SettingsFault) -> DecisionMessage {
        let fields = FormFields(encoded: request.uri.query ?? "")
        do {
            guard let document = try fields.single("mrss").flatMap(Base64.octets) else {
                throw SettingsFault(key: "mrss", problem: "is missing or no base64")
            }
            return DecisionMessage(form: .rest, request: try XacmlRequest(subject: try fields.single("uuID"), mediaRss: document))
        } catch let fault as SettingsFault {
            throw fault
        } catch {
            throw SettingsFault(key: "", problem: "cannot be read: \(error)")
        }
    }

    private static func response(
        _ answer: XacmlResponse, to message: DecisionMessage, _ manner: SoapManner, _ provider: IdentityProvider, _ now: Timestamp
    ) throws -> Response {
        if let query = message.query {
            let decision = SoapDecision(
                provider: provider, query: query, response: answer, manner: manner, now: now)
            return Self.answer(try decision.serialized(), xmlType)
        }
        if message.form == .json { return Self.answer(String(decoding: try answer.serialized(), as: UTF8.self), XacmlNames.mediaType) }
        return Self.answer(answer.xml.serialized(), xmlType)
    }

    private func note(_ provider: IdentityProvider, _ answer: XacmlResponse, _ message: DecisionMessage, _ request: Request) {
        let person = message.request.subject.flatMap(provider.subscribers.person(subject:))?.name ?? ""
        var fields = ["person": person, "resources": message.request.resources.map(\.identifier).joined(separator: ",")]
        if message.form != .json { fields["form"] = message.form.rawValue }
        if message.form == .soap { fields["signed"] = message.isSigned ? "true" : "false" }
        note(provider, answer.results.map(\.decision.rawValue).joined(separator: ","), fields)
    }

    private func note(_ provider: IdentityProvider, _ outcome: String, _ fields: [String: String] = [:]) {
        log.note("pdp", mvpd: provider.id, outcome: outcome, fields: fields, at: clock.now())
    }

    private static let xmlType = "text/xml; charset=utf-8"

    /// The content type without its parameters.
    private static func type(_ request: Request) -> String {
        request.headers[.contentType]?.split(separator: ";").first?.lowercased().filter { $0 != " " } ?? ""
    }

    private static func answer(_ text: String, _ type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    // With a linger time of zero the system sends RST instead of FIN.
    private static func reset(_ channel: any Channel) async throws {
        if let options = channel as? any SocketOptionProvider {
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close().get()
    }
}

/// An answer in the SOAP form (mvpd §4.2): a SAML Response with its signature after the status, as in published samples.
struct SoapDecision {
    let provider: IdentityProvider
    let query: DecisionMessage.Query
    let response: XacmlResponse
    let manner: SoapManner
    let now: Timestamp

    func serialized() throws(XmlRejection) -> String {
        let (message, assertion) = (RandomIdentifier.next(), RandomIdentifier.next())
        var text = self.message(message, assertion).serialized()
        if manner.signature.coversAssertion { text = try XmlSignature.sign(text, identifier: assertion, key: provider.key) }
        if manner.signature.coversResponse { text = try XmlSignature.sign(text, identifier: message, key: provider.key) }
        return XmlNode.element("s:Envelope", ["xmlns:s": XmlNames.soap], [.element("s:Body", [:], [.written(text)])]).serialized()
    }

    private var issued: Timestamp { now - manner.age }
    private var issuer: XmlNode { .element("saml:Issuer", [:], [.text(manner.issuer ?? provider.settings.entityID)]) }

    private func message(_ identifier: String, _ assertion: String) -> XmlNode {
        var children = [
            issuer, XmlNode.element("samlp:Status", [:], [.element("samlp:StatusCode", ["Value": SamlStatus.success])]),
        ]
        if manner.signature.coversResponse { children.append(XmlSignature.template(identifier: identifier, certificate: provider.certificate)) }
        children.append(self.assertion(assertion))
        return .element(
            "samlp:Response",
            [
                "xmlns:samlp": XmlNames.protocol, "xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0",
                "IssueInstant": Instant.text(issued), "InResponseTo": manner.namesQuery ? query.identifier : nil,
            ], children)
    }

    private func assertion(_ identifier: String) -> XmlNode {
        var children = [issuer]
        if manner.signature.coversAssertion { children.append(XmlSignature.template(identifier: identifier, certificate: provider.certificate)) }
        let audience = XmlNode.element("saml:Audience", [:], [.text(manner.audience ?? query.issuer)])
        children.append(
            .element(
                "saml:Conditions", ["NotBefore": Instant.text(issued), "NotOnOrAfter": Instant.text(issued + manner.validity)],
                [.element("saml:AudienceRestriction", [:], [audience])]))
        children.append(.element("xs:XACMLAuthzDecisionStatement", ["xmlns:xs": XmlNames.decisionAssertion], [response.xml]))
        return .element(
            "saml:Assertion", ["xmlns:saml": XmlNames.assertion, "ID": identifier, "Version": "2.0", "IssueInstant": Instant.text(issued)], children)
    }
}
