import ContractReflection
import ContractRuntime
import Contracts
import StrictJson
import Testing

/// Our own contracts by their description.
struct ContractTests {
    private let schema: ContractSchema

    init() throws { schema = try ContractSchema(fileDescriptorSet: ContractDescriptors.fileDescriptorSet) }

    private func check<Value: Message>(_ value: Value) throws {
        let json = try schema.json(try value.serialized(), of: Value.messageName)
        let encoded = try schema.encode(try JsonDocument(parsing: Array(json.utf8)).root, as: Value.messageName)
        #expect(try Value(serialized: encoded) == value)
    }

    @Test("What the generated code encoded comes back from JSON as it was")
    func returnsWhatWasEncoded() throws {
        let device = DeviceInformation(type: "TV", model: "M\"1\u{1}", osName: "tvOS")
        let call = DeviceCall(accessToken: "t", requestor: "ACME1", deviceID: "dev-1", device: device, clientAddress: "10.0.0.1")
        try check(AuthorizeRequest(call: call, resource: "ACME1-NEWS"))
        try check(EchoMessage(content: Array(0...255), delayMilliseconds: 5))
        try check(GetOptInStatusRequest(caller: Caller(who: .device(call))))
        try check(SessionSubject(session: Session(id: "s", expiresAtMilliseconds: .max), attributes: [UserAttribute(key: "zip", values: ["1", ""])]))
        var configuration = Configuration(version: 7)
        configuration.integrations = [Integration(requestorID: "ACME1", mvpdID: "NorthCable", enabled: true)]
        configuration.mvpds = [
            Mvpd(id: "NorthCable", signIn: .saml(SamlEndpoint(platformExchange: PlatformExchange(requestKind: .attributeQuery))))
        ]
        try check(configuration)
        try check(GetConfigurationRequest())
    }

    @Test("A skeleton of every request fits the request")
    func skeletons() throws {
        let methods = schema.services.flatMap(\.methods)
        #expect(methods.count > 60)
        for method in methods {
            let text = schema.skeleton(of: method.request)
            let document = try JsonDocument(parsing: Array(text.utf8))
            #expect(throws: Never.self, "\(method.name): \(text)") { try schema.encode(document.root, as: method.request) }
        }
    }

    @Test("Methods are found by short and by full names")
    func names() {
        #expect(schema.methods(named: "getconfiguration").map(\.service) == ["boxoffice.config.v1.Config"])
        #expect(schema.methods(named: "Health.Check").map(\.name) == ["Check"])
        #expect(schema.methods(named: "boxoffice.platform.v1.Health/Check").map(\.name) == ["Check"])
        #expect(schema.methods(named: "onfiguration").isEmpty && schema.methods(named: "").isEmpty)
        let watch = schema.methods(named: "WatchConfiguration")
        #expect(watch.map(\.isStream) == [true] && watch.map(\.idempotencyLevel) == [1])
    }
}
