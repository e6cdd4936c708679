internal import SandboxKit
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird

/// Finds the endpoint of a call, and writes refusals.
struct VendorEndpoints: Sendable {
    let memory: VendorMemory
    let registration: RegistrationEndpoint
    let accessTokens: AccessTokenEndpoint
    let making: ProfileMaking
    let browser: BrowserEndpoint
    let decisions: VendorDecisionEndpoint
    let logouts: LogoutEndpoint

    func answer(_ call: VendorCall) throws -> VendorAnswer {
        let isAllowed = call.operation.isForBrowsers || memory.access { state in state.throttle.take(call, state.behaviour.throttle) }
        // Without an enhanced error (rest-v2 §1.4).
        guard isAllowed else { return Self.tooMany }
        do {
            return try handler(of: call.operation)(call)
        } catch let refusal as VendorRefusal {
            return call.operation.isForBrowsers ? page(refusal) : try refusal.answer()
        } catch let gone as GoneClient {
            return try gone.answer()
        }
    }

    private func handler(of operation: VendorOperation) -> (VendorCall) throws -> VendorAnswer {
        switch operation {
        case .register: registration.answer
        case .token: accessTokens.answer
        case .configuration: ConfigurationEndpoint(memory: memory).answer
        case .createSession: SessionEndpoint(memory: memory).create
        case .resumeSession: SessionEndpoint(memory: memory).resume
        case .readSession: SessionReadEndpoint(memory: memory).answer
        case .authenticate: browser.authenticate
        case .signIn: browser.signIn
        case .mvpdLogout: browser.mvpdLogout
        case .profiles: ProfileEndpoint(memory: memory).all
        case .profile: ProfileEndpoint(memory: memory).one
        case .profileByCode: ProfileEndpoint(memory: memory).byCode
        case .authorize, .preauthorize: decisions.answer
        case .logout: logouts.answer
        case .partnerSession: PartnerEndpoint(memory: memory, making: making).session
        case .partnerProfile: PartnerEndpoint(memory: memory, making: making).profile
        case .resetTempPass: TempPassResetEndpoint(memory: memory).byDevice
        case .resetTempPassByIdentity: TempPassResetEndpoint(memory: memory).byIdentity
        }
    }

    /// A refusal that a person sees (rest-v2 §2.5).
    private func page(_ refusal: VendorRefusal) -> VendorAnswer {
        let problem = refusal.problem
        let values = ["mvpd": "Upstream", "initial": "U", "code": problem.code, "explanation": problem.details ?? problem.message]
        return .html(browser.pages.text("error", values), status: problem.status, outcome: problem.code)
    }

    private static let tooMany = VendorAnswer(
        status: 429, headers: [.contentType: "text/html", .retryAfter: "1"], body: Array("<html><body>Too Many Requests</body></html>".utf8),
        outcome: "throttled")
}

/// Calls of web applications (rest-v2 §1.1, rest-v1 §2.1).
extension VendorEndpoints {
    private static let headers = [
        "Authorization", "Content-Type", "AP-Device-Identifier", "X-Device-Info", "AP-TempPass-Identity", "AP-Partner-Framework-Status",
        "AP-Visitor-Identifier", "AD-Service-Token", "Adobe-Subject-Token",
    ]

    /// The question of a browser before it calls: no token, no throttle.
    func preflight(_ request: Request) -> Response {
        var response = crossOrigin(request, Response(status: .noContent))
        if response.headers[.accessControlAllowOrigin] != nil {
            response.headers[.accessControlAllowMethods] = "POST,GET,OPTIONS,DELETE"
            response.headers[.accessControlAllowHeaders] = Self.headers.joined(separator: ",")
        }
        return response
    }

    /// Lets pages of the service providers' domains read the answer; a stranger's origin refuses nothing and gets no header (clients §4.15).
    func crossOrigin(_ request: Request, _ response: Response) -> Response {
        guard let origin = request.headers[.origin], let url = URL(string: origin), url.scheme == "https", let host = url.host()?.lowercased(),
            memory.access({ $0.catalogue.serviceProviders.contains { RedirectAddress.lies(host, in: $0.domains) } })
        else { return response }
        var response = response
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowCredentials] = "true"
        response.headers[.vary] = "Origin"
        return response
    }
}
