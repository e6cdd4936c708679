import ContractConformance
import Testing

/// The requirements of REST v2's calls accept a double that keeps them, and reject services that break one.
@Suite("Authentication by REST v2")
struct AuthenticationMutantTests {
    /// The cases that need a SAML request of a real service.
    private static let beyondTheDouble = [73, 81, 82, 83, 84, 92]

    @Test func aGoodDoubleMeetsTheRequirements() async throws {
        let ids = (57...100).filter { !Self.beyondTheDouble.contains($0) }.map { "AUTHN-\($0)" }
        let results = await (try await NaiveAuthentication()).examine(ids)
        #expect(results.count == ids.count)
        for result in results.values {
            #expect(result.verdict == .passed, "\(result.id): \(result.details)")
        }
    }

    @Test(arguments: AuthenticationMutant.all)
    func aMutantFails(_ mutant: AuthenticationMutant) async throws {
        let results = await (try await NaiveAuthentication(mutant)).examine(mutant.breaks)
        #expect(!mutant.breaks.isEmpty && results.count == mutant.breaks.count)
        for result in results.values {
            #expect(result.verdict == .failed, "\(result.id) must fail")
            #expect(result.expected?.isEmpty == false && result.came?.isEmpty == false)
        }
    }
}
