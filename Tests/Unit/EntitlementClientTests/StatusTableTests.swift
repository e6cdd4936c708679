@testable import EntitlementClient
import Foundation
import Testing

@Suite("client-sdk §2.6: advanced codes")
struct StatusTableTests {
    /// The table of the specification, by level.
    static let levels: [StatusLevel: [StatusCode]] = [
        .error: [
            "APPL", "APPL_ERROR", "AAPL", "AAPL_ERROR", "N130", "N500", "R400", "R401", "REG500", "CFG400", "CFG404", "CFG429", "CFG500", "CFG503",
            "CFG599", "SEC403", "SEC420", "Z100", "Z110", "Z120", "Z130", "Z169", "Z500", "P100", "500",
        ],
        .warning: ["N010", "N111", "CFG100", "SEC412", "Z010"],
        .info: ["VSA203", "VSA403", "VSA404", "VSA503", "N000", "N001", "N003", "N004", "N005", "N011", "Z011"],
        .success: ["REGCODE"],
    ]

    @Test("every code has its level and a meaning")
    func hasAll() {
        for (level, codes) in Self.levels {
            for code in codes {
                #expect(code.level == level, "\(code)")
                #expect(!code.meaning.isEmpty, "\(code)")
            }
        }
        let known = Set(Self.levels.values.joined()).subtracting(["CFG500", "CFG503", "CFG599"]).union(["CFG5xx"])
        #expect(Set(StatusTable.rows.map(\.code)) == known)
        #expect(StatusTable.row(of: "CFG600") == nil && StatusTable.row(of: "CFG50") == nil)
    }

    @Test("the platform's failures are one family, however they are spelled")
    func readsFamily() {
        for code: StatusCode in ["APPL", "APPL_ERROR", "AAPL", "AAPL_ERROR"] { #expect(code.isPlatformFailure) }
        #expect(!StatusCode.permissionDenied.isPlatformFailure)
    }

    @Test("constants have the documents' values")
    func hasConstants() {
        #expect(
            DelegateConstants.ACCESS_ENABLER_STATUS_SUCCESS == 1 && DelegateConstants.ACCESS_ENABLER_STATUS_ERROR == 0
                && DelegateConstants.USER_AUTHENTICATED == "")
        #expect(DelegateConstants.ADOBEPASS_REDIRECT_URL == "adobepass://ios.app")
        #expect(
            [DelegateConstants.TRACKING_AUTHENTICATION, DelegateConstants.TRACKING_AUTHORIZATION, DelegateConstants.TRACKING_GET_SELECTED_PROVIDER]
                == [0, 1, 2])
        #expect(
            [
                DelegateConstants.METADATA_AUTHENTICATION, DelegateConstants.METADATA_AUTHORIZATION, DelegateConstants.METADATA_DEVICE_ID,
                DelegateConstants.METADATA_USER_META,
            ] == [0, 1, 2, 3])
        #expect(
            AuthorizationDenial.Code.allCases.map(\.rawValue).sorted() == [
                DelegateConstants.GENERIC_AUTHORIZATION_ERROR, DelegateConstants.INTERNAL_AUTHORIZATION_ERROR,
                DelegateConstants.USER_NOT_AUTHENTICATED_ERROR, DelegateConstants.USER_NOT_AUTHORIZED_ERROR,
            ])
    }
}

@Suite("client-sdk: texts and times")
struct TextTests {
    @Test(
        "dates of HTTP",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ])
    func readsDates(text: String, seconds: Double) { #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == seconds) }

    @Test(
        "other texts are no dates of HTTP",
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
        ])
    func refusesDates(text: String) { #expect(HTTPDate.parse(text) == nil) }

    @Test("percent-encoding leaves unreserved characters only")
    func encodes() { #expect(FormEncoding.encode("aZ09-._~ +/=&?é") == "aZ09-._~%20%2B%2F%3D%26%3F%C3%A9") }

    @Test("a code's address takes the code as its parameter")
    func addsCode() {
        let code = RegistrationCode(
            code: "QK7M2XD", provider: "plain", expires: .distantFuture, lifetime: .seconds(1),
            loginAddress: URL(string: "https://a.example/x?code=OLD&b=1"))
        #expect(code.addressWithCode?.absoluteString == "https://a.example/x?b=1&code=QK7M2XD")
    }
}
