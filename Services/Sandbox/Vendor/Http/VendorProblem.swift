internal import Clocks
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import SandboxKit

/// An enhanced error as it is written (rest-v2 §3).
struct VendorProblem: Sendable, Codable, Equatable {
    let action: String
    let status: Int
    let code: String
    let message: String
    let details: String?
    let helpUrl: String
    let trace: String

    init(_ code: VendorErrorCode, details: String? = nil) {
        self.init(code: code.rawValue, status: code.status, action: code.action, message: code.message, details: details)
    }

    /// A code that the table may lack: tests ask for later ones.
    init(code: String, status: Int, action: String, message: String? = nil, details: String? = nil) {
        self.action = action
        self.status = status
        self.code = code
        self.message = message ?? "The stand-in answers \(code)."
        self.details = details
        helpUrl = "https://upstream.sandbox.example/errors"
        trace = UUID().uuidString.lowercased()
    }
}

/// A request that is refused as a whole.
struct VendorRefusal: Error, Sendable {
    let problem: VendorProblem

    init(_ code: VendorErrorCode, details: String? = nil) { problem = VendorProblem(code, details: details) }

    init(_ problem: VendorProblem) { self.problem = problem }

    func answer() throws -> VendorAnswer { try .json(problem, status: problem.status, outcome: problem.code) }
}

/// The codes of enhanced errors (rest-v2 §3).
enum VendorErrorCode: String, Sendable, Codable, CaseIterable {
    case invalidServiceProvider = "invalid_parameter_service_provider"
    case invalidMvpd = "invalid_parameter_mvpd"
    case invalidCode = "invalid_parameter_code"
    case invalidResources = "invalid_parameter_resources"
    case invalidRedirectURL = "invalid_parameter_redirect_url"
    case invalidPartner = "invalid_parameter_partner"
    case invalidSamlResponse = "invalid_parameter_saml_response"
    case invalidDeviceInfo = "invalid_header_device_info"
    case invalidDeviceIdentifier = "invalid_header_device_identifier"
    case invalidTempPassIdentity = "invalid_header_identity_for_temporary_access"
    case partnerPermissionNotPresent = "invalid_header_pfs_permission_access_not_present"
    case partnerPermissionNotDetermined = "invalid_header_pfs_permission_access_not_determined"
    case partnerPermissionNotGranted = "invalid_header_pfs_permission_access_not_granted"
    case partnerProviderNotDetermined = "invalid_header_pfs_provider_id_not_determined"
    case partnerProviderMismatch = "invalid_header_pfs_provider_id_mismatch"
    case partnerProviderExpired = "invalid_header_pfs_provider_info_expired"
    case invalidIntegration = "invalid_integration"
    case invalidSession = "invalid_authentication_session"
    case preauthorizationDenied = "preauthorization_denied_by_mvpd"
    case denied = "authorization_denied_by_mvpd"
    case deniedByParentalControls = "authorization_denied_by_parental_controls"
    case deniedByDegradationRule = "authorization_denied_by_degradation_rule"
    case internalServerError = "internal_server_error"
    case tooManyResources = "too_many_resources"
    case metadataCertificate = "invalid_configuration_user_metadata_certificate"
    case tempPassConfiguration = "invalid_configuration_temporary_access"
    case platform = "invalid_configuration_platform"
    case platformID = "invalid_configuration_platform_id"
    case platformTrait = "invalid_configuration_platform_trait"
    case platformCategoryTrait = "invalid_configuration_platform_category_trait"
    case platformServices = "invalid_configuration_platform_services"
    case mvpdPlatform = "invalid_configuration_mvpd_platform"
    case boardingStatus = "invalid_configuration_mvpd_platform_boarding_status"
    case profileExchange = "invalid_configuration_mvpd_platform_profile_exchange"
    case tokenOfOtherServiceProvider = "invalid_access_token_service_provider"
    case tokenInvalid = "invalid_access_token_client_application"
    case profileMissing = "authenticated_profile_missing"
    case profileExpired = "authenticated_profile_expired"
    case profileInvalidated = "authenticated_profile_invalidated"
    case tempPassOver = "temporary_access_duration_limit_exceeded"
    case tempPassUsedUp = "temporary_access_resources_limit_exceeded"
    case deniedByHomePolicies = "authorization_denied_by_hba_policies"
    case deniedBySessionInvalidated = "authorization_denied_by_session_invalidated"
    case identityNotRecognized = "identity_not_recognized_by_mvpd"
    case networkReceivedError = "network_received_error"
    case networkTimeout = "network_connection_timeout"
    case executionTimeExceeded = "maximum_execution_time_exceeded"

    /// The status that the error carries; of an item of a decision it is not that of the answer.
    var status: Int {
        switch self {
        case .tokenInvalid, .tokenOfOtherServiceProvider: 401
        case .internalServerError: 500
        default: rawValue.hasPrefix("invalid_configuration_") ? 500 : rawValue.hasPrefix("invalid_") ? 400 : 403
        }
    }

    /// The action that the client is told to take.
    var action: String {
        switch self {
        case .tokenInvalid, .tokenOfOtherServiceProvider: "application-registration"
        case .tooManyResources: "configuration"
        case .profileMissing, .profileExpired, .profileInvalidated, .tempPassOver, .tempPassUsedUp, .deniedByHomePolicies,
            .deniedBySessionInvalidated, .identityNotRecognized:
            "authentication"
        case .networkReceivedError, .networkTimeout, .executionTimeExceeded: "retry"
        default: rawValue.hasPrefix("invalid_configuration_") ? "configuration" : "none"
        }
    }

    /// Free text; three of them are matched by their words (clients §4.7).
    var message: String {
        switch self {
        case .invalidServiceProvider: "The service provider parameter value is missing or invalid."
        case .tokenOfOtherServiceProvider: "The access token is not valid: invalid service provider."
        case .tokenInvalid: "The access token is not valid: invalid client application."
        case .invalidIntegration: "The integration between the service provider and the MVPD does not exist or is disabled."
        case .invalidMvpd: "The MVPD parameter value is missing or invalid."
        case .invalidCode: "The code parameter value is missing or invalid."
        case .invalidResources: "The resources parameter value is missing or invalid."
        case .invalidRedirectURL: "The redirect URL parameter value is missing or invalid."
        case .invalidSession: "The authentication session is missing or invalid."
        case .tooManyResources: "The limit of resources in one request is exceeded."
        default: "The stand-in answers \(rawValue.split(separator: "_").joined(separator: " "))."
        }
    }
}

/// An answer of the stand-in vendor before it goes out: a fault may still change it.
struct VendorAnswer: Sendable {
    var status: Int
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// The enhanced error's code, or what happened in a word, for the log.
    var outcome: String

    static func json(_ value: some Encodable, status: Int = 200, outcome: String) throws -> VendorAnswer {
        VendorAnswer(
            status: status, headers: [.contentType: "application/json;charset=UTF-8", .cacheControl: "no-store"], body: try encoded(value),
            outcome: outcome)
    }

    static func html(_ text: String, status: Int = 200, outcome: String) -> VendorAnswer {
        VendorAnswer(status: status, headers: Pages.headers, body: Array(text.utf8), outcome: outcome)
    }

    static func redirect(_ location: String, outcome: String) -> VendorAnswer {
        VendorAnswer(status: 302, headers: [.location: location, .cacheControl: "no-store"], outcome: outcome)
    }

    static func empty(_ status: Int, outcome: String) -> VendorAnswer { VendorAnswer(status: status, outcome: outcome) }

    /// Registration's and tokens' errors (RFC 6749 §5.2).
    static func dcr(_ error: String) throws -> VendorAnswer { try json(["error": error], status: 400, outcome: error) }

    static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    var response: Response {
        let body = body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        return Response(status: HTTPResponse.Status(code: status), headers: headers, body: body)
    }
}

/// A call to the stand-in vendor, read whole.
struct VendorCall: Sendable {
    let operation: VendorOperation
    let method: String
    let path: String
    /// Still encoded.
    let query: String
    /// The decoded parts of the path: `sp`, `mvpd`, `code`, `partner`.
    let parameters: [String: String]
    let headers: HTTPFields
    /// The server's name in the request.
    var authority: String?
    var body: [UInt8]
    /// The caller's address, without a port.
    let peer: String
    let now: Timestamp
    /// The version of HTTP, and the source port of the connection; 0: it has none.
    var httpVersion = "1.1"
    var port = 0

    /// A part of the path; empty where the operation has none of that name. Ids are plain ASCII: nothing else equals one.
    func parameter(_ name: String) -> String {
        let text = parameters[name] ?? ""
        return text.utf8.allSatisfy { $0 < 0x80 } ? text : ""
    }

    /// A header's value; of several the first.
    func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.canonicalName == name }?.value
    }

    /// Without parameters, in small letters.
    private var contentType: String { headers[.contentType]?.split(separator: ";").first?.lowercased().filter { $0 != " " } ?? "" }

    /// True when the body says that it is JSON.
    var isJSON: Bool { contentType == "application/json" }

    /// A field of the form; nil where it is absent, blank, repeated or badly encoded. A body of another type counts as empty (rest-v2 §1.1).
    func field(_ name: String) -> String? {
        guard contentType == "application/x-www-form-urlencoded" else { return nil }
        return Self.value(name, in: String(decoding: body, as: UTF8.self))
    }

    /// A value of the query, by the same rules.
    func queryValue(_ name: String) -> String? { Self.value(name, in: query) }

    /// The token of the header `Authorization`.
    var bearer: String? {
        guard let header = headers[.authorization], header.lowercased().hasPrefix("bearer ") else { return nil }
        return String(header.dropFirst(7))
    }

    /// The device's address, which servers send along (rest-v2 §1.3); else the caller's.
    var address: String {
        let first = header("x-forwarded-for")?.split(separator: ",").first.map { String($0.filter { $0 != " " }) }
        return first.flatMap { $0.isEmpty ? nil : $0 } ?? peer
    }

    private static func value(_ name: String, in text: String) -> String? {
        guard let value = (try? FormFields(encoded: text).single(name)) ?? nil else { return nil }
        return value.utf8.allSatisfy { $0 == UInt8(ascii: " ") } ? nil : value
    }
}
