internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsolePlatformTests {
    private static let path = "/integrations/ACME1/NorthCable/platforms/"

    let console = ConsoleFixture()

    init() {
        console.gateway.administration.getEntity.answer(
            with: ConsoleFixture.integration(enabled: #","platformOverrides":[{"scope":"tv","authzTtl":60},{"scope":"roku","authnTtl":604800}]"#))
        console.gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
    }

    private var sent: String { console.gateway.administration.replaceEntity.requests.last?.json ?? "" }

    @Test("dashboard #16: a value on Roku that is emptied gives way to the inherited one, which the form names")
    func takesAway() async throws {
        let form = try await console.get(Self.path + "roku")
        #expect(
            form.text.contains(#"name="authnTtl.d" type="text" inputmode="numeric" value="7""#)
                && form.text.contains("Now 7 days (integration:roku)."))
        #expect(try await console.post(Self.path + "roku", "etag=e1&authnTtl.d=").location == "/console/integrations/ACME1/NorthCable?saved=1")
        #expect(sent.contains(#""platformOverrides":[{"authzTtl":60,"scope":"tv"}]"#))
    }

    @Test("dashboard #18: a category and a platform each have a level of their own")
    func sets() async throws {
        _ = try await console.post(Self.path + "mobile", "etag=e1&authnTtl.h=12&platformSso=")
        #expect(
            sent.contains(
                #""platformOverrides":[{"authzTtl":60,"scope":"tv"},{"authnTtl":604800,"scope":"roku"},{"authnTtl":43200,"scope":"mobile"}]"#))
        _ = try await console.post(Self.path + "tv", "etag=e1&authzTtl.m=1&iframeRequired=off")
        #expect(sent.contains(#"{"authzTtl":60,"iframeRequired":"off","scope":"tv"}"#))
        #expect(try await console.get(Self.path + "fridge").status == 404)
    }

    @Test("dashboard #19: what is refused on a platform stands at its field")
    func tellsProblems() async throws {
        let refusal = Refusal(
            reason: .invalid, message: "no", problems: [FieldProblem(field: "platformOverrides[2].platformSso", message: "has no effect on desktop")])
        console.gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .refusal(refusal)))
        let refused = try await console.post(Self.path + "desktop", "etag=e1&platformSso=on")
        #expect(refused.status == 422 && refused.text.contains(##"href="#field-platformSso""##) && refused.text.contains("has no effect on desktop"))
        #expect(refused.text.contains(#"<option value="on" selected>"#))
    }

    @Test("the table of an integration leads to each level, for those who may change it")
    func leads() async throws {
        #expect(
            try await console.get("/integrations/ACME1/NorthCable").text.contains(#"href="/console/integrations/ACME1/NorthCable/platforms/fireTv""#))
        let viewer = ConsoleFixture(.viewer)
        viewer.gateway.administration.getEntity.answer(with: ConsoleFixture.integration())
        #expect(try await !viewer.get("/integrations/ACME1/NorthCable").text.contains("/platforms/"))
    }
}
