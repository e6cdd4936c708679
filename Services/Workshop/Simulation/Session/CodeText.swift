internal import CommandKit
internal import EntitlementClient
internal import Foundation

/// A registration code for a person, as lines of a terminal.
struct CodeText {
    let code: RegistrationCode
    /// Where it is typed.
    let address: String
    /// The same with the code in it, as the QR code says.
    let addressWithCode: String

    /// - Parameter gateway: Has the page when the servers name none.
    init(_ code: RegistrationCode, gateway: String) {
        self.code = code
        address = code.loginAddress?.absoluteString ?? "\(gateway)/activate"
        addressWithCode = code.addressWithCode?.absoluteString ?? "\(gateway)/activate?code=\(code.code)"
    }

    /// `ABC DEFG`: people read it more easily in groups; the page takes it with the blank.
    var grouped: String { "\(code.code.prefix(3)) \(code.code.dropFirst(3))" }

    /// - Parameter hasQrCode: False: text only.
    func lines(_ console: Console, hasQrCode: Bool = true) -> [String] {
        let minutes = max(1, Int(code.lifetime / .seconds(60)))
        let picture = hasQrCode ? [""] + QrCode.lines(for: addressWithCode).map { "    " + $0 } : []
        return picture + [
            "", "  On your phone or computer open  \(console.bold(address))", "  and type  \(console.bold(grouped))  for \(code.provider)", "",
            console.faint("  or open  \(addressWithCode)"),
            console.faint("  The code is good for \(minutes) minutes. Waiting ..."), "",
        ]
    }
}
