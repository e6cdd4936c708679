internal import Hummingbird
internal import Testing

/// Any input to any route gets an answer with a documented status, and never a server error.
@Suite struct AnyInputTests {
    private static let routes: [(HTTPRequest.Method, String, [String])] = [
        (.post, "/o/client/register", []), (.post, "/o/client/token", ["client_id", "client_secret", "grant_type"]),
        (.get, "/api/v1/config/ACME1", ["format"]),
        (.post, "/reggie/v1/ACME1/regcode", ["deviceId", "ttl", "mvpd", "device_info", "registrationURL"]),
        (.get, "/reggie/v1/ACME1/regcode/QK7M2XD", []), (.delete, "/reggie/v1/ACME1/regcode/QK7M2XD", []),
        (.get, "/api/v1/authenticate", ["requestor_id", "mso_id", "reg_code", "domain_name", "redirect_url"]),
        (.get, "/api/v1/checkauthn", ["requestor", "deviceId", "device_info"]), (.get, "/api/v1/checkauthn/QK7M2XD", ["requestor"]),
        (.get, "/api/v1/tokens/authn", ["requestor", "deviceId"]), (.get, "/api/v1/authorize", ["requestor", "deviceId", "resource"]),
        (.get, "/api/v1/tokens/authz", ["requestor", "deviceId", "resource"]),
        (.get, "/api/v1/mediatoken", ["requestor", "deviceId", "resource"]),
        (.get, "/api/v1/tokens/media", ["requestor", "deviceId", "resource"]),
        (.get, "/api/v1/logout", ["requestor", "deviceId", "redirect_url"]), (.delete, "/api/v1/logout", ["requestor", "deviceId"]),
        (.get, "/sp/metadata", ["requestor"]), (.get, "/activate", ["code"]), (.get, "/activate/providers", ["code"]),
        (.get, "/activate/sign-in", ["code", "mvpd"]), (.get, "/activate/done", ["code", "requestor"]),
        (.get, "/apple/v1/ACME1/web", ["returnUrl"]), (.get, "/devices", ["requestor", "done"]), (.get, "/devices/open/h", []),
        (.post, "/auto-signin/v1/ACME1/redeem", ["value"]), (.delete, "/apple/v1/ACME1/link", ["linkId"]),
    ]

    private static let good = [
        "requestor": "ACME1", "requestor_id": "ACME1", "deviceId": "d", "resource": "r", "mso_id": "NorthCable", "reg_code": "QK7M2XD",
        "domain_name": "acme.example", "redirect_url": "https://acme.example/", "code": "QK7M2XD", "mvpd": "NorthCable",
        "device_info": TestGateway.deviceInformation, "client_id": "c", "client_secret": "s", "grant_type": "client_credentials",
    ]

    private static let garbage = [
        "", "%", "%F", "%00", "%FF%FE", "%E2%80%AE", "a%0D%0Ab", "%3Cscript%3E", "'%22%3E", "..%2F..%2Fetc", String(repeating: "A", count: 3000),
        "-1", "99999999999999999999", "%F0%9F%8E%AC", "{{code}}",
    ]

    private static let documented: Set = [200, 201, 204, 302, 400, 401, 403, 404, 410, 412, 413]

    /// Every parameter of a route in turn: left out, sent twice, and each piece of garbage; the others are good.
    private static func queries(_ names: [String]) -> [String] {
        names.flatMap { broken in
            let others = names.filter { $0 != broken }.map { "\($0)=\(good[$0] ?? "")" }
            let variants = [[], ["\(broken)=a", "\(broken)=b"], [broken]] + garbage.map { ["\(broken)=\($0)"] }
            return variants.map { (others + $0).joined(separator: "&") }
        } + ["&&=&==&", "%zz=1", "=x"]
    }

    @Test(arguments: routes.indices, [false, true])
    func anyParametersHaveADocumentedAnswer(index: Int, hasBearer: Bool) async throws {
        let (method, path, names) = Self.routes[index]
        let gateway = TestGateway()
        let headers = hasBearer ? TestGateway.device : [.accept: "application/json"]
        try await gateway.exchange { client in
            for query in Self.queries(names) {
                try await client.execute(uri: "\(path)?\(query)", method: method, headers: headers) { response in
                    #expect(Self.documented.contains(response.status.code), "\(method) \(path)?\(query)")
                    #expect(!Reply(response).isHTML || !String(buffer: response.body).contains("<script>"))
                }
            }
        }
    }

    @Test(arguments: ["%FF", "%00", "..", "a%2Fb", "%3Cx%3E", "{{x}}", String(repeating: "z", count: 2000)])
    func anyPathHasADocumentedAnswer(part: String) async throws {
        let gateway = TestGateway()
        for path in [
            "/api/v1/config/", "/api/v1/checkauthn/", "/reggie/v1/ACME1/regcode/", "/assets/", "/", "/api/v1/", "/devices/open/", "/devices/",
            "/auto-signin/v1/", "/apple/v1/",
        ] {
            #expect(Self.documented.contains(try await gateway.get(path + part).status), "\(path)\(part)")
        }
        let isAmbiguous = ["%00", "..", "a%2Fb"].contains(part)
        #expect(try await gateway.send(.post, "/reggie/v1/\(part)/regcode?deviceId=d").status == (isAmbiguous ? 404 : 400))
    }
}
