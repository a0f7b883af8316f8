package calib
import ("testing";"os";"time";"strconv")
func TestZZ(t *testing.T){
 form:=os.Getenv("FORM"); if form==""{form="linear"}
 b,err:=ReadBench("../../shared/data/bench/h100_closed_loop.csv",BenchOptions{})
 if err!=nil{t.Fatal(err)}
 gs,_:=b.Groups(Setup{Model:os.Getenv("G")})
 for _,g:=range gs{
  t0:=time.Now()
  facts:=NoFacts
  bud:=0
  if os.Getenv("ONE")!="" {facts.OnePrompt=true;facts.Waiting=0; facts.LengthRatio,_=strconv.ParseFloat(os.Getenv("R"),64); facts.RequestsPerClient,_=strconv.Atoi(os.Getenv("N"))}
  if os.Getenv("BUD")!="" {bud,_=strconv.Atoi(os.Getenv("BUD"));facts.Waiting=0; facts.LengthRatio,_=strconv.ParseFloat(os.Getenv("R"),64); facts.RequestsPerClient,_=strconv.Atoi(os.Getenv("N"))}
  f,err:=FitCosts(g,FitOptions{Form:form,Facts:facts,MaxBatchedTokens:bud,MaxSeqs:256,BlockTokens:16,Refine:os.Getenv("NOREF")=="",Seed:1})
  t.Logf("%v err %v took %v",g.Setup,err,time.Since(t0))
  if f==nil{continue}
  for _,c:=range f.Coefficients{t.Logf("   %-28s %.5g  [%.4g %.4g] %s",c.Name,c.Value,c.Lo,c.Hi,c.Untold)}
  t.Logf("   overhead %+v kv %d %s",f.Overhead,f.KVBlocks,f.KVSource)
  t.Logf("   TPOT %.2f%% TTFT %.1f%%  held out %.2f%% %.1f%%",100*f.TPOTError,100*f.TTFTError,100*f.HeldOutTPOT,100*f.HeldOutTTFT)
  for _,s:=range f.Shapes{t.Logf("   shape %d/%d n %d TPOT %.2f%% TTFT %.1f%% odd %v",s.Input,s.Output,s.Rows,100*s.TPOT,100*s.TTFT,s.Odd)}
  for _,r:=range f.Rows{ if os.Getenv("V")!=""||r.KVBound{t.Logf("   %d: %d/%d C %d TTFT %.0f fit %.0f (%+.0f%%) TPOT %.2f fit %.2f (%+.1f%%) kv %v sim %v odd %v",r.Line,int(r.Row.Input.Max),int(r.Row.Output.Max),r.Row.Concurrency,1e3*r.TTFT,1e3*r.FitTTFT,100*(r.FitTTFT/r.TTFT-1),1e3*r.TPOT,1e3*r.FitTPOT,100*(r.FitTPOT/r.TPOT-1),r.KVBound,r.simulated.KVBound(),r.Odd)}}
  for _,w:=range f.Warnings{t.Log("   WARN ",w)}
  for _,w:=range f.Notes{t.Log("   note ",w)}
 }
}
