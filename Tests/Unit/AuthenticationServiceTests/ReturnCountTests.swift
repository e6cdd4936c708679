import Clocks
import ContractRuntime
import Contracts
import SamlProfile
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// How many people were sent to each MVPD, and how many came back.
struct ReturnCountTests {
    private func counts(_ rig: Rig) async throws -> ReturnCounts {
        try await rig.operations.countReturns(CountReturnsRequest(), context: rig.context)
    }

    @Test("who is sent to an MVPD counts after five minutes, and for an hour; whoever comes back counts at once, whatever the answer")
    func counts() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        var browsers: [Browser] = []
        for device in ["dev-1", "dev-2"] { browsers.append(try await rig.start(rig.code(rig.call(bearer, device: device)).code)) }
        #expect(try await counts(rig).mvpds == [MvpdReturns(mvpd: "DemoCable")], "they may still be typing")
        rig.clock.advance(by: .seconds(360))
        #expect(try await counts(rig) == ReturnCounts(mvpds: [MvpdReturns(mvpd: "DemoCable", begun: 2)], windowSeconds: 3600))
        rig.saml.answer(.status(codes: ["Responder", "RequestDenied"]))
        _ = try await rig.finish(browsers[0])
        rig.saml.answer(.rejected(SamlRejection(.signatureInvalid, "no")))
        _ = try await rig.finish(browsers[1])
        let now = UInt64(rig.clock.now().milliseconds)
        #expect(try await counts(rig).mvpds == [MvpdReturns(mvpd: "DemoCable", begun: 2, returned: 2, returnedAtMilliseconds: now)])
        rig.clock.advance(by: .seconds(3661))
        #expect(try await counts(rig).mvpds.isEmpty)
    }

    @Test("the MVPDs with most people come first; a thousand are told, and how many more there are; one that the catalogue lost is not")
    func isBounded() {
        let counter = MvpdReturnCounter()
        let start = Timestamp(seconds: 1_900_000_000)
        for number in 0..<1002 { counter.sent(to: "M\(number)", at: start) }
        for _ in 0..<3 { counter.returned(from: "M700", at: start) }
        let told = counter.list(now: start + .seconds(600)) { $0 != "M1" }
        #expect(told.mvpds.count == 1000 && told.omitted == 1 && told.mvpds.first?.mvpd == "M700")
        #expect(told.mvpds.first?.returnedAtMilliseconds == UInt64(start.milliseconds))
        #expect(counter.list(now: start + .seconds(4000)).mvpds.isEmpty)
    }

    @Test("a clock that is set back loses no count")
    func standsAClock() {
        let counter = MvpdReturnCounter()
        let start = Timestamp(seconds: 1_900_000_000)
        counter.sent(to: "A", at: start)
        counter.sent(to: "A", at: start - .seconds(120))
        #expect(counter.list(now: start + .seconds(600)).mvpds == [MvpdReturns(mvpd: "A", begun: 2)])
    }
}
