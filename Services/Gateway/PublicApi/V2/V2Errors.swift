internal import Cryptography
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import StrictJson

/// Public error codes of REST v2 with their actions and statuses (rest-v2 §3).
enum V2Errors {
    /// The row of a fault's code; a code that this API does not list becomes `internal_server_error`.
    /// - Parameter isItem: True for what concerns one of several resources: an MVPD that cannot be asked is told by its own code there.
    static func row(for code: Fault.Code, isItem: Bool = false) -> ErrorTable.Row {
        if !isItem, code.isTransient { return unavailable }
        return byCode[names[code] ?? code.rawValue] ?? internalError
    }

    /// Where clients tell a code by words of its message, these words (clients §4.7).
    static func fixedMessage(_ row: ErrorTable.Row) -> String? { fixedMessages[row.code] }

    /// The message of an item beside its code.
    static func itemMessage(_ row: ErrorTable.Row) -> String {
        switch row.action {
        case "authentication": "The user has to sign in."
        case "retry": "The MVPD could not be asked; the call may be repeated."
        case "configuration": "The request is beyond what is configured."
        default: "The user may not watch the resource."
        }
    }

    static let internalError = ErrorTable.Row(code: "internal_server_error", action: "none", statuses: [500])
    /// Not of the reference: what it has no answer for.
    static let unavailable = ErrorTable.Row(code: "service_unavailable", action: "retry", statuses: [503])
    static let notFound = ErrorTable.Row(code: "not_found", action: "none", statuses: [404])
    static let requestTimeout = ErrorTable.Row(code: "request_timeout", action: "retry", statuses: [408])
    static let requestTooLarge = ErrorTable.Row(code: "request_too_large", action: "none", statuses: [413])
    static let invalidRequest = ErrorTable.Row(code: "invalid_request", action: "none", statuses: [400])

    static let rows: [ErrorTable.Row] =
        [internalError, unavailable, notFound, requestTimeout, requestTooLarge, invalidRequest]
        + rows(
            "none", 400,
            """
            invalid_parameter_service_provider invalid_parameter_mvpd invalid_parameter_code invalid_parameter_resources \
            invalid_parameter_redirect_url invalid_parameter_partner invalid_parameter_saml_response invalid_header_device_info \
            invalid_header_device_identifier invalid_header_identity_for_temporary_access invalid_header_pfs_permission_access_not_present \
            invalid_header_pfs_permission_access_not_determined invalid_header_pfs_permission_access_not_granted \
            invalid_header_pfs_provider_id_not_determined invalid_header_pfs_provider_id_mismatch invalid_header_pfs_provider_info_expired \
            invalid_integration invalid_authentication_session
            """)
        + rows(
            "none", 403,
            """
            preauthorization_denied_by_mvpd authorization_denied_by_mvpd authorization_denied_by_parental_controls \
            authorization_denied_by_degradation_rule
            """)
        + rows("configuration", 403, "too_many_resources")
        + rows(
            "configuration", 500,
            """
            invalid_configuration_user_metadata_certificate invalid_configuration_temporary_access invalid_configuration_platform \
            invalid_configuration_platform_id invalid_configuration_platform_trait invalid_configuration_platform_category_trait \
            invalid_configuration_platform_services invalid_configuration_mvpd_platform invalid_configuration_mvpd_platform_boarding_status \
            invalid_configuration_mvpd_platform_profile_exchange
            """)
        + rows("application-registration", 401, "invalid_access_token_service_provider invalid_access_token_client_application")
        + rows(
            "authentication", 403,
            """
            authenticated_profile_missing authenticated_profile_expired authenticated_profile_invalidated temporary_access_duration_limit_exceeded \
            temporary_access_resources_limit_exceeded authorization_denied_by_hba_policies authorization_denied_by_session_invalidated \
            identity_not_recognized_by_mvpd
            """)
        + rows("retry", 403, "network_received_error network_connection_timeout maximum_execution_time_exceeded")

    private static func rows(_ action: String, _ status: Int, _ codes: String) -> [ErrorTable.Row] {
        codes.split(separator: " ").map { ErrorTable.Row(code: String($0), action: action, statuses: [status]) }
    }

    private static let byCode = Dictionary(uniqueKeysWithValues: rows.map { ($0.code, $0) })

    /// This API has another name than the fault here (rest-v2 §6).
    private static let names: [Fault.Code: String] = [
        .accessDenied: "invalid_access_token_client_application", .invalidClient: "invalid_access_token_client_application",
        .insufficientScope: "invalid_access_token_service_provider", .invalidRequestor: "invalid_parameter_service_provider",
        .invalidDeviceID: "invalid_header_device_identifier", .invalidDeviceInformation: "invalid_header_device_info",
        .unknownIntegration: "invalid_integration", .invalidMvpd: "invalid_parameter_mvpd",
        .invalidTemporaryAccessIdentity: "invalid_header_identity_for_temporary_access",
        .invalidTemporaryAccessConfiguration: "invalid_configuration_temporary_access", .invalidRedirectURL: "invalid_parameter_redirect_url",
        .invalidRegistrationCode: "invalid_authentication_session", .registrationCodeSpent: "invalid_authentication_session",
        .authenticationSessionMissing: "authenticated_profile_missing", .authenticationSessionExpired: "authenticated_profile_expired",
        .authenticationSessionInvalidated: "authenticated_profile_invalidated", .missingResource: "invalid_parameter_resources",
        .malformedAuthzRequest: "invalid_parameter_resources", .invalidMessage: "invalid_request",
    ]

    private static let fixedMessages = [
        "invalid_integration": "The integration between the service provider and the MVPD does not exist or is disabled.",
        "invalid_parameter_service_provider": "The service provider parameter value is missing or invalid.",
        "invalid_access_token_service_provider": "The access token is for an invalid service provider.",
    ]
}

/// Reads what calls of REST v2 have in common beside device and bearer.
enum V2Fields {
    /// A code in the path: 6 to 8 letters and digits, in whatever case (rest-v2 D7).
    /// - Throws: `invalid_parameter_code`.
    static func code(_ exchange: Exchange) throws(Fault) -> String {
        let code = (try? exchange.captured("code")) ?? ""
        let isCode =
            (6...8).contains(code.utf8.count)
            && code.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            }
        guard isCode else { throw Fault(.invalidParameterCode, "The code must have 6 to 8 letters and digits.") }
        return code
    }

    /// The MVPD in the path.
    /// - Throws: `invalid_mvpd` when it is blank or no text.
    static func mvpd(_ exchange: Exchange) throws(Fault) -> String {
        guard let mvpd = try? exchange.captured("mvpd"), mvpd.contains(where: { !$0.isWhitespace }) else {
            throw Fault(.invalidMvpd, "The MVPD is missing or not known.")
        }
        return mvpd
    }

    /// A field of a session's form: blank is absent; one that was sent twice with two values, or cannot be decoded, is refused.
    /// - Throws: `invalid_request`.
    static func field(_ name: String, _ exchange: Exchange) throws(Fault) -> String {
        let value = try exchange.value(name) ?? ""
        return value.contains { !$0.isWhitespace } ? value : ""
    }

    /// `AP-TempPass-Identity`: a JSON object as Base64, in either alphabet.
    /// - Returns: Empty when there is none that can be read: only a promotional TempPass needs it, and says so.
    static func identity(_ exchange: Exchange) -> String {
        let sent = exchange.headers[values: .apTempPassIdentity]
        guard sent.count == 1, let text = sent.first, text.utf8.count <= longestIdentity, let bytes = Base64.tolerant(text) else { return "" }
        guard let identity = String(validating: bytes, as: UTF8.self), !identity.utf8.contains(0) else { return "" }
        return identity
    }

    /// In octets: an e-mail address or its digest, and what is around it.
    private static let longestIdentity = 4096

    /// `{"resources": [...]}`, each resource a text that is not empty. A body of another type is as good as none (rest-v2 §1.1).
    /// - Throws: `missing_resource`, `malformed_authz_request`.
    static func resources(_ exchange: Exchange) throws(Fault) -> [String] {
        guard Exchange.mediaType(exchange.headers) == "application/json",
            let document = try? JsonDocument(parsing: Array(exchange.body.readableBytesView)), case .object(let members) = document.root.content
        else { throw missing }
        let lists = members.filter { $0.name == "resources" }
        guard lists.count == 1, case .array(let items) = lists[0].value.content, !items.isEmpty else { throw missing }
        var resources: [String] = []
        for item in items {
            guard case .string(let text) = item.content, !text.isEmpty, !text.utf8.contains(0) else {
                throw Fault(.malformedAuthzRequest, "Each of the resources must be a text that is not empty.")
            }
            resources.append(text)
        }
        return resources
    }

    private static let missing = Fault(.missingResource, "The body must be a JSON object with 'resources', a list of at least one text.")
}

/// The face of REST v2: always JSON, always the object of rest-v2 §3.
struct V2Face: Face {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        // One call too many has one form at every listener (rest-v2 §1.4).
        if fault.code == .tooManyRequests { return .tooManyRequests(retryAfter: Int(fault.retrySeconds)) }
        let row = V2Errors.row(for: fault.code)
        var response = reply(row, message: Self.message(fault, row), details: fault.details, exchange.facts)
        if row.action == "application-registration" { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    private static func message(_ fault: Fault, _ row: ErrorTable.Row) -> String {
        if let fixed = V2Errors.fixedMessage(row) { return fixed }
        return switch row.statuses[0] {
        case 500 where row.code == V2Errors.internalError.code: "An internal fault occurred."
        case 503: "The service is temporarily unavailable."
        default: fault.message
        }
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response {
        let (row, message) =
            switch problem {
            case .tooLarge: (V2Errors.requestTooLarge, "The body is too large.")
            case .tooSlow: (V2Errors.requestTimeout, "The body took too long.")
            case .broken: (V2Errors.invalidRequest, "The body did not come as its head said.")
            }
        return reply(row, message: message, exchange.facts)
    }

    /// The reference's answer to another method (rest-v2 D4).
    func methodNotAllowed(_ exchange: Exchange) -> Response { Response(Document("error", []), format: .json, status: .methodNotAllowed) }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response {
        reply(V2Errors.notFound, message: "There is no such address.", facts)
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        let document = ErrorDocument.enhanced(V2Errors.unavailable, request, trace: Self.uuid(request.trace))
        return (.unstored(ReplyFormat.json.contentType), document.body(.json))
    }

    private func reply(_ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts) -> Response {
        let status = HTTPResponse.Status(code: row.statuses[0])
        return Response(Self.document(row, message: message, details: details, facts), format: .json, status: status)
    }

    static func document(_ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts) -> Document {
        ErrorDocument.enhanced(
            action: row.action, status: row.statuses[0], code: row.code, message: message, details: details, help: facts.host.help(row.code),
            trace: uuid(facts.trace.traceID))
    }

    /// The trace's 32 digits as the reference writes them (rest-v2 §3).
    static func uuid(_ trace: String) -> String {
        var text = ""
        for (index, digit) in trace.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}

extension ErrorDocument {
    /// The error for a request that the gateway has no time for.
    static func enhanced(_ row: ErrorTable.Row, _ request: OverloadedRequest, trace: String) -> Document {
        enhanced(
            action: row.action, status: 503, code: row.code, message: OverloadedRequest.message, details: nil, help: request.host.help(row.code),
            trace: trace)
    }
}
