internal import Contracts
internal import Faults

/// A person on a device of their own, as the examiner's Authentication service reports them.
struct TestViewer: Sendable {
    let conversation: Conversation
    let peers: PlayedPeers
    let device: String
    let requestor: String

    /// - Parameters:
    ///   - mvpd: Where the person is signed in; empty: nowhere.
    init(_ examination: Examination, requestor: String = "ACME1", mvpd: String = "NorthCable") async throws {
        conversation = try await examination.greet()
        peers = try examination.peers()
        device = TestApp.device()
        self.requestor = requestor
        guard !mvpd.isEmpty else { return }
        var subject = peers.doubles.authentication.subject(device: device, requestor: requestor)
        subject.session?.mvpd = mvpd
        peers.doubles.authentication.put(subject, device: device, requestor: requestor)
    }

    var call: DeviceCall {
        DeviceCall(
            accessToken: "conformance-bearer", requestor: requestor, deviceID: device,
            device: DeviceInformation(model: "Television", osName: "Linux"),
            clientAddress: "192.0.2.7")
    }

    var session: Session { peers.doubles.authentication.subject(device: device, requestor: requestor).session ?? Session() }

    func signOut() { peers.doubles.authentication.remove(device: device, requestor: requestor) }

    func fail(_ code: String) {
        peers.doubles.authentication.fail(device: device, requestor: requestor, with: Fault(Fault.Code(rawValue: code), "As the examiner says."))
    }

    @discardableResult
    func authorize(_ resource: String) async throws -> Decision {
        try await conversation.call(AuthorizationMethods.authorize, AuthorizeRequest(call: call, resource: resource))
    }

    func resource(_ name: String) -> ResourceRequest { ResourceRequest(call: call, resource: name) }
}
