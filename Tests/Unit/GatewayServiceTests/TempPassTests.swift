internal import Contracts
internal import Faults
internal import Hummingbird
internal import Testing

@Suite struct TempPassTests {
    let gateway = TestGateway()

    private static let fields = "requestor_id=ACME1&deviceId=dev-7f3a&mso_id=Preview10&domain_name=acme.example"

    init() {
        gateway.authentication.startFreePreview.answer(with: Session(id: "s1", requestor: "ACME1", mvpd: "Preview10"))
        gateway.authentication.resetTempPass.answer { request, _ in
            guard request.accessToken == "good" else { throw Fault(.accessDenied, "The access token is not accepted.") }
            guard !request.requestor.isEmpty else { throw Fault(.invalidRequestor, "Required 'requestor' is not present") }
            return ResetTempPassResponse(trials: 1)
        }
    }

    @Test("rest-v1 §3.21: freepreview is 204 without a body; parameters come in form or query")
    func previews() async throws {
        let form = try await gateway.post(
            "/api/v1/authenticate/freepreview", form: Self.fields + "&generic_data=%28%22email%22%3A%22x%22%29&appId=a1")
        #expect(form.status == 204 && form.text.isEmpty)
        let query = try await gateway.send(.post, "/api/v1/authenticate/freepreview.json?\(Self.fields)")
        #expect(query.status == 204)
        let request = try #require(gateway.authentication.startFreePreview.requests.first)
        #expect(request.mvpd == "Preview10" && request.domainName == "acme.example" && request.genericData == #"("email":"x")"#)
        let call = try #require(request.call)
        #expect(call.requestor == "ACME1" && call.deviceID == "dev-7f3a" && call.appID == "a1" && call.device?.osName == "tvOS")
        #expect(try await gateway.get("/api/v1/authenticate/freepreview?\(Self.fields)").status == 405)
    }

    @Test("rest-v1 §3.21: a missing parameter is 400 and named", arguments: ["requestor_id", "deviceId", "mso_id", "domain_name"])
    func missing(_ name: String) async throws {
        let fields = Self.fields.split(separator: "&").filter { !$0.hasPrefix(name + "=") }.joined(separator: "&")
        let reply = try await gateway.post("/api/v1/authenticate/freepreview", form: fields)
        #expect(reply.status == 400 && reply.json["message"] as? String == "Required '\(name)' is not present")
        let nobody = try await gateway.post("/api/v1/authenticate/freepreview", form: fields, TestGateway.device.with(.authorization, nil))
        #expect(nobody.status == 401)
        #expect(gateway.authentication.startFreePreview.requests.isEmpty)
    }

    @Test("What the service refuses keeps its status")
    func refusals() async throws {
        for (code, status) in [
            (Fault.Code.invalidRequest, 400), (.invalidDomain, 400), (.unknownIntegration, 400), (.accessDenied, 401), (.invalidClient, 403),
            (.unavailable, 503),
        ] {
            gateway.authentication.startFreePreview.fail(with: Fault(code, "x"))
            #expect(try await gateway.post("/api/v1/authenticate/freepreview", form: Self.fields).status == status)
        }
    }

    @Test("generic_data travels with a browser's sign-in")
    func authenticates() async throws {
        let query = "reg_code=QK7M2XD&requestor_id=ACME1&mso_id=PromoVod&domain_name=acme.example&redirect_url=https://acme.example/"
        _ = try await gateway.get("/api/v1/authenticate?\(query)&generic_data=%7B%7D", [:])
        #expect(gateway.authentication.startSignIn.requests.first?.genericData == "{}")
    }

    @Test("rest-v1 §3.22: a reset is 204 and names the trials")
    func resets() async throws {
        let pass = "requestor_id=ACME1&mvpd_id=Preview10"
        for path in ["reset?\(pass)&device_id=dev-7f3a", "reset?\(pass)", "reset/generic?\(pass)&key=ab", "reset/generic?\(pass)&key=all"] {
            let reply = try await gateway.send(.delete, "/reset-tempass/v3/\(path)")
            #expect(reply.status == 204 && reply.text.isEmpty)
        }
        let requests = gateway.authentication.resetTempPass.requests
        #expect(requests.map(\.scope) == [.deviceID("dev-7f3a"), .deviceID(""), .key("ab"), .key("all")])
        #expect(requests.allSatisfy { $0.requestor == "ACME1" && $0.mvpd == "Preview10" })
        #expect(try await gateway.send(.post, "/reset-tempass/v3/reset?\(pass)").status == 405)
    }

    @Test("clients #96: the older versions of a reset are the same call", arguments: ["v2", "v2.1", "v3"])
    func versions(_ version: String) async throws {
        let pass = "requestor_id=ACME1&mvpd_id=Preview10"
        for path in ["reset?\(pass)&device_id=all", "reset/generic?\(pass)&key=all"] {
            let reply = try await gateway.send(.delete, "/reset-tempass/\(version)/\(path)")
            #expect(reply.status == 204 && reply.text.isEmpty)
            #expect(try await gateway.send(.delete, "/reset-tempass/\(version)/\(path)", [:]).status == 401)
        }
        #expect(gateway.authentication.resetTempPass.requests.map(\.scope) == [.deviceID("all"), .key("all")])
    }

    @Test("dashboard #34: a missing parameter is 400, but the bearer comes first", arguments: ["reset", "reset/generic"])
    func checksReset(_ path: String) async throws {
        for query in ["", "requestor_id=ACME1", "mvpd_id=Preview10", "requestor_id=ACME1&mvpd_id=Preview10&mvpd_id=Other"] {
            let address = "/reset-tempass/v3/\(path)?\(query)"
            #expect(try await gateway.send(.delete, address).status == 400)
            #expect(try await gateway.send(.delete, address, TestGateway.device.with(.authorization, "Bearer stale")).status == 401)
            #expect(try await gateway.send(.delete, address, TestGateway.device.with(.authorization, nil)).status == 401)
        }
        gateway.authentication.resetTempPass.fail(with: Fault(.insufficientScope, "x"))
        let foreign = try await gateway.send(.delete, "/reset-tempass/v3/\(path)?requestor_id=BRAVO&mvpd_id=Preview10")
        #expect(foreign.status == 403 && foreign.json["error"] as? String == "insufficient_scope")
    }
}
